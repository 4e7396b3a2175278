"""The record of what the tables have names each index once."""

from __future__ import annotations

import re

from app.db.column_types import metadata
from app.models import Project
from tests.architecture.sources import ROOT

RECORD = (ROOT / "docs/adr/0017-tables.md").read_text().partition("| Derived columns")[0]


def test_the_record_names_each_index() -> None:
    assert Project.metadata is metadata
    named = re.findall(r"`(ix_[a-z0-9_]+|[a-z_]+_(?:text|box)|…_[a-z0-9_]+)`", RECORD)
    named = [name.replace("…", "ix_projects_account_id_status") for name in named]
    found = [str(index.name) for table in metadata.tables.values() for index in table.indexes]
    assert sorted(named) == sorted(found)
