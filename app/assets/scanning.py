"""All assets of an account or of a project, for files that have all of them."""

from __future__ import annotations

from typing import Any

from app.assets.listing import table_of
from app.assets.record import COLUMNS, row_record
from app.lists.query import ListQuery
from app.lists.scanning import Scan
from app.models import Asset


def scan_assets(
    account_id: str,
    query: ListQuery,
    *,
    project_id: str | None = None,
    metadata_only: bool = False,
) -> Scan[Any]:
    """The records of the assets that the filters of a query leave.

    Args:
        project_id: None for the assets of all projects of the account.
        metadata_only: the JSON text of their metadata instead, None where there is none.
    """
    shown = (Asset.metadata_json,) if metadata_only else COLUMNS
    make = _only if metadata_only else row_record
    owner_id = project_id or account_id
    table = table_of(project_id)
    return Scan(table, account_id, owner_id, query, shown=shown, size=None, make=make)


def _only(value: str | None) -> str | None:
    return value
