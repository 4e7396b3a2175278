"""All projects of an account, for files that have all of them."""

from __future__ import annotations

from typing import Any

from app.lists.query import ListQuery
from app.lists.scanning import Scan
from app.models import Project
from app.projects.listing import TABLE
from app.projects.record import COLUMNS, row_record


def scan_projects(account_id: str, query: ListQuery, *, metadata_only: bool = False) -> Scan[Any]:
    """The records of the projects that the filters of a query leave.

    Args:
        metadata_only: the JSON text of their metadata instead, None where there is none.
    """
    shown = (Project.metadata_json,) if metadata_only else COLUMNS
    size = None if metadata_only else Project.stored_bytes
    make = _only if metadata_only else row_record
    return Scan(TABLE, account_id, account_id, query, shown=shown, size=size, make=make)


def _only(value: str | None) -> str | None:
    return value
