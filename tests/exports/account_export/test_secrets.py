"""No secret is in an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from flask import Flask
from sqlalchemy import select

from app.db.column_types import Base
from app.db.extensions import db
from tests.exports.account_export.archives import archive_of
from tests.exports.account_export.full_account import make_full_account

pytestmark = pytest.mark.both


SHORT: Final = 16  # characters
# Columns with what nobody may know, or with what a secret can be found out by.
_HIDDEN: Final = re.compile(r"hash$|^sealed(?!_at)|^(claim|lease|code_challenge)$")
# Those with these names that are for everybody.
_PUBLIC: Final = {("audit_checkpoints", "hash"), ("audit_checkpoints", "previous_hash")}


def _stored(app: Flask) -> Iterator[str]:
    """All that the database has in such columns, of whatever account, without the short texts that
    other tests wrote instead of a hash."""
    with app.app_context():
        for table in Base.metadata.sorted_tables:
            for column in table.columns:
                if _HIDDEN.search(column.name) and (table.name, column.name) not in _PUBLIC:
                    values = db.session.scalars(select(column).where(column.is_not(None)))
                    yield from (value for value in values if len(value) > SHORT)
        db.session.rollback()


@pytest.mark.slow
def test_no_secret_is_in_it(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    full = make_full_account(app, monkeypatch)
    archive = archive_of(full.client)
    hidden = {*full.secrets, *_stored(app), "a note of the operator"}
    assert len(full.secrets) > 15
    assert min(map(len, hidden)) > SHORT
    for name in archive.names:
        text = archive.text(name)
        assert [value for value in hidden if value in text] == [], name
