"""Lists of assets, of a project or of the account: filtered, searched and sorted from an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import starmap
from typing import Any, Final

from app.assets.record import COLUMNS, row_record
from app.db.queries import CompiledQuery
from app.lists.query import (
    ListQuery,
    SearchedTable,
    StatementFilters,
    filters_of,
    list_query,
    parameters,
    pick_fields,
)
from app.lists.scanning import Reader, scan_list
from app.lists.statements import (
    count_statement,
    keys_found,
    keys_in_order,
    page_rows,
    page_statement,
)
from app.models import Asset
from app.policy.bounds import ASSET_SORTS
from app.policy.fields import ASSET

_SIDES: Final = ("longitude", "latitude", "longitude", "latitude")
_OF_PROJECT: Final = SearchedTable(Asset, ASSET, "project_id", _SIDES, ASSET_SORTS)
_OF_ACCOUNT: Final = SearchedTable(Asset, ASSET, "account_id", _SIDES, ASSET_SORTS)
_FEW: Final = 10_000  # matches that are sorted within a few milliseconds


def table_of(project_id: str | None) -> SearchedTable:
    """The table for the lists of a project, or of the account."""
    return _OF_ACCOUNT if project_id is None else _OF_PROJECT


def asset_query(**values: Any) -> ListQuery:
    """The query of a list of assets, from the values of ``AssetQuerySchema``."""
    return list_query(ASSET, values)


def list_assets(
    account_id: str, project_id: str | None, query: ListQuery
) -> tuple[Iterator[dict[str, Any]], int]:
    """The records of one page, and how many assets there are on all pages.

    Args:
        project_id: None for the assets of all projects of the account.
    """
    table = table_of(project_id)
    filters = filters_of(table, query)
    values = parameters(table, account_id, project_id or account_id, query, filters.dialect)
    total = int(count_statement(table, filters).scalar(**values))
    is_few = total <= _FEW and (filters.equal or filters.updated_since)
    # Where an index has the filtered rows in order, it is taken; it exists for created_at.
    found_first = filters.are_searched or (is_few and query.sort != "created_at")
    rows = page_rows(
        query.page,
        query.per_page,
        total,
        lambda wanted: _page(
            table, filters, (query.sort, query.descending), bool(found_first), wanted.backwards
        ),
        values,
    )
    return pick_fields(starmap(row_record, rows), query.fields), total


def scan_assets(
    read: Reader,
    account_id: str,
    query: ListQuery,
    *,
    project_id: str | None = None,
    metadata_only: bool = False,
) -> Iterator[list[Any]]:
    """Yield the records of all assets that the filters of a query leave, in batches.

    Args:
        project_id: None for the assets of all projects of the account.
        metadata_only: the JSON text of their metadata instead, None where there is none.
    """
    table, owner_id = table_of(project_id), project_id or account_id
    shown = (Asset.metadata_json,) if metadata_only else COLUMNS
    make: Callable[..., Any] = (lambda text: text) if metadata_only else row_record
    return scan_list(read, table, account_id, owner_id, query, shown=shown, size=None, make=make)


@cache
def _page(
    table: SearchedTable,
    filters: StatementFilters,
    order: tuple[str, bool],
    found_first: bool,
    backwards: bool,
) -> CompiledQuery:
    """A page of what an index finds, all of which is sorted for it, or else of the index that has
    the order."""
    keys = keys_found(table, filters) if found_first else keys_in_order(table, filters)
    return page_statement(table, keys, COLUMNS, filters.dialect, order, backwards=backwards)
