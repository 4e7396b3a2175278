"""Lists of the assets of a project: filtered and searched from an index, the newest first."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, func, select

from app.assets.record import COLUMNS, asset_record
from app.auth.tenant import columns_of
from app.core.database import reader
from app.core.finding import contains_text, overlaps_box
from app.core.geometry import Bounds
from app.models import Asset

_TABLE = cast("Table", Asset.__table__)


class AssetQuery(NamedTuple):
    """Which assets, which page."""

    page: int = 1
    per_page: int = 20
    type: str | None = None
    status: str | None = None
    search: str | None = None
    bbox: Bounds | None = None


def list_assets(
    account_id: str, project_id: str, query: AssetQuery
) -> tuple[list[dict[str, Any]], int]:
    """The records of one page, and how many assets there are on all pages."""
    matching = _matching(account_id, project_id, query)
    counted = select(func.count()).select_from(matching.subquery())
    total = int(reader().execute(counted, {"account_id": account_id}).scalar_one())
    statement = (
        matching.order_by(_TABLE.c.created_at.desc(), _TABLE.c.id.desc())
        .limit(query.per_page)
        .offset((query.page - 1) * query.per_page)
    )
    rows = reader().execute(statement, {"account_id": account_id})
    return [asset_record(row) for row in rows], total


def _matching(account_id: str, project_id: str, query: AssetQuery) -> Select[Any]:
    dialect = reader().dialect.name
    statement = columns_of(Asset, *COLUMNS).where(_TABLE.c.project_id == project_id)
    if query.type is not None:
        statement = statement.where(_TABLE.c.type == query.type)
    if query.status is not None:
        statement = statement.where(_TABLE.c.status == query.status)
    if query.search:
        statement = statement.where(contains_text(_TABLE, account_id, query.search, dialect))
    if query.bbox is not None:
        names = ("longitude", "latitude", "longitude", "latitude")
        statement = statement.where(overlaps_box(_TABLE, query.bbox, dialect, *names))
    return statement
