"""Lists of the assets of a project: filtered and searched from an index, the newest first."""

from __future__ import annotations

from functools import cache
from itertools import starmap
from typing import Any

from app.api.listing import (
    Filters,
    ListQuery,
    SearchedTable,
    count_statement,
    filters_of,
    keys_found,
    keys_in_order,
    list_query,
    page_rows,
    page_statement,
    parameters,
)
from app.assets.record import COLUMNS, row_record
from app.db.queries import CompiledQuery
from app.models import Asset
from app.policy.fields import ASSET

_SIDES = ("longitude", "latitude", "longitude", "latitude")
_TABLE = SearchedTable(Asset, ASSET, "project_id", _SIDES, ("created_at",))


def asset_query(**values: Any) -> ListQuery:
    """The query of a list of assets, from the values of ``AssetQuerySchema``."""
    return list_query(ASSET, values)


def list_assets(
    account_id: str, project_id: str, query: ListQuery
) -> tuple[list[dict[str, Any]], int]:
    """The records of one page, and how many assets there are on all pages."""
    filters = filters_of(query)
    values = parameters(_TABLE, account_id, project_id, query, filters.dialect)
    total = int(count_statement(_TABLE, filters).scalar(**values))
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda wanted: _page(filters, wanted.backwards),
        values,
    )
    return list(starmap(row_record, rows)), total


@cache
def _page(filters: Filters, backwards: bool) -> CompiledQuery:
    """With search or box the keys come from the index that finds them, else from the one that has
    them in order."""
    is_searched = filters.search or filters.bbox
    keys = keys_found(_TABLE, filters) if is_searched else keys_in_order(_TABLE, filters)
    order = ("created_at", True)
    return page_statement(_TABLE, keys, COLUMNS, filters.dialect, order, backwards=backwards)
