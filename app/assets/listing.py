"""The assets of a project or of the account that match a query, in numbered pages or all of
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import starmap
from typing import Any, Final

from sqlalchemy import func

from app.assets.record import COLUMNS, row_record
from app.db.column_types import byte_length
from app.db.queries import CompiledQuery
from app.formats.writers.features import ASSETS
from app.lists import totals
from app.lists.extents import holds_all
from app.lists.pages import Span, page_rows
from app.lists.query import FeatureSource, ListQuery, SearchedTable, list_query, pick_fields
from app.lists.scanning import Reader, scan_list
from app.lists.statements import count_query, list_statement, page_query
from app.models import Asset
from app.policy.fields import ASSET
from app.policy.request_limits import ASSET_SORTS
from app.usage.counters import read_counters
from app.values.records import columns_of_fields

_SIDES: Final = ("longitude", "latitude", "longitude", "latitude")
_SORTS: Final = {name: name for name in ASSET_SORTS}
_OF_PROJECT: Final = SearchedTable(Asset, ASSET, "project_id", _SIDES, _SORTS)
_OF_ACCOUNT: Final = SearchedTable(Asset, ASSET, "account_id", _SIDES, _SORTS)
_FEW: Final = 10_000  # matches, which are sorted within a few milliseconds


def table_of(project_id: str | None) -> SearchedTable:
    """The table for the lists of a project, or of the account."""
    return _OF_ACCOUNT if project_id is None else _OF_PROJECT


def asset_query(**values: Any) -> ListQuery:
    """The query of a list of assets, from the values of ``AssetQuerySchema``."""
    return list_query(ASSET, values)


def list_assets(
    account_id: str, project_id: str | None, query: ListQuery
) -> tuple[Iterator[dict[str, Any]], int]:
    """Return (records of one page, number of assets on all pages).

    Args:
        project_id: None for the assets of all projects of the account.
    """
    statement, owner_id = list_statement(table_of(project_id), query), project_id or account_id
    values = statement.values(account_id, owner_id, query)
    box = query.bbox if statement.index == "box" else None
    if box and holds_all(statement.table, account_id, box, project_id):
        statement = statement.anywhere
    total = totals.count_total(count_query(statement), values)
    is_few = total <= _FEW and query.conditions
    # An index with the filtered rows in order exists only for created_at.
    in_order = not (statement.is_searched or (is_few and query.sort != "created_at"))

    def read(page_span: Span) -> CompiledQuery:
        return page_query(statement, COLUMNS, in_order=in_order, backwards=page_span.backwards)

    rows = page_rows(query.page, query.per_page, total, read, values)
    return pick_fields(starmap(row_record, rows), query.fields), total


def scan_assets(
    read: Reader,
    account_id: str,
    query: ListQuery,
    *,
    project_id: str | None = None,
    metadata_only: bool = False,
) -> Iterator[list[Any]]:
    """Yield the records of all assets that match the filters of a query, in batches.

    Args:
        project_id: None for the assets of all projects of the account.
        metadata_only: yield the JSON text of their metadata, or None, instead of records.
    """
    table, owner_id = table_of(project_id), project_id or account_id
    columns_read = (Asset.metadata_json,) if metadata_only else COLUMNS
    make: Callable[..., Any] = (lambda text: text) if metadata_only else row_record
    return scan_list(
        read, table, account_id, owner_id, query, output=columns_read, size=None, make=make
    )


def _asset_totals(account_id: str) -> tuple[None, int]:
    return None, int(read_counters(account_id).stored_bytes)


FEATURES: Final = FeatureSource(
    _OF_ACCOUNT,
    (*columns_of_fields(Asset, ASSETS.property_fields), Asset.metadata_json, Asset.location),
    func.coalesce(byte_length(_OF_ACCOUNT.table.c.metadata_json), 0),
    None,
    _asset_totals,
)
