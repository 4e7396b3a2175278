"""The projects that match a query, in numbered pages or all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, starmap
from typing import Any, Final

from sqlalchemy import bindparam, func, literal_column

from app.api.expensive import answer_in_turn
from app.auth.tenant import columns_among, columns_of
from app.db.column_types import byte_length
from app.db.queries import CompiledQuery
from app.db.search_index import overlaps_box
from app.formats.writers.features import PROJECTS
from app.http.errors import BadRequest, Detail
from app.lists import totals
from app.lists.extents import holds_all
from app.lists.pages import Row, Span, is_among_the_first, is_near, page_rows, span_of_page
from app.lists.query import FeatureSource, ListQuery, SearchedTable, list_query, pick_fields
from app.lists.scanning import Reader, scan_list
from app.lists.statements import (
    Columns,
    ListStatement,
    count_named,
    count_query,
    list_statement,
    named_rows_query,
    page_query,
    sorted_by,
    whole_rows_query,
)
from app.models import Project
from app.policy.fields import PROJECT
from app.policy.request_limits import EXPENSIVE_PAGE_BYTES, LIST_BYTES, LIST_IDS
from app.projects.record import COLUMNS, SIDES, SUMMARY_COLUMNS, row_record, row_summary
from app.usage.counters import project_total, read_counters
from app.values.ids import is_id
from app.values.records import columns_of_fields

_SORTS = {
    "name": "name_key",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "area_hectares": "area_m2",
}
TABLE = SearchedTable(Project, PROJECT, "account_id", SIDES, _SORTS)
_ROWS = 2  # rows in memory at a time, each with a boundary of up to MAX_BODY_BYTES
_LARGE_PART = 8  # one in 8 rows: from there on, scanning an index beats looking up each row
MANY = 2_000  # rows; testing them takes a few milliseconds


def project_query(**values: Any) -> ListQuery:
    """The query of a list of projects, from the values of ``ProjectQuerySchema``."""
    return list_query(PROJECT, values)


def list_projects(
    account_id: str, query: ListQuery, *, boundaries: bool = True
) -> tuple[Iterator[dict[str, Any]], int]:
    """Return (records of one page, read lazily, number on all pages).

    Args:
        boundaries: False for summaries, with the box around each boundary in its place.

    Raises:
        BadRequest: the page would be too large.
        ServiceUnavailable: it is large, and too many requests are waiting.
    """
    boundaries = boundaries and (not query.fields or "geometry" in query.fields)
    statement = list_statement(TABLE, query)
    values = statement.values(account_id, account_id, query)
    counted, status = read_counters(account_id), query.filters.get("status")
    everything = count_with_status(counted, status)
    statement = _with_cheapest_index(account_id, query, statement, values, everything)
    total = _count_projects(account_id, query, statement, values, everything)
    page_span = span_of_page(query.page, query.per_page, total)
    is_first = not query.conditions and page_span is not None and is_among_the_first(page_span)

    def rows(columns_read: Columns, at_once: int | None = None) -> Iterable[Row]:
        def read(page_span: Span) -> CompiledQuery:
            if is_first:
                return whole_rows_query(statement, columns_read)
            in_order = is_near(page_span, total, everything)
            return page_query(
                statement, columns_read, in_order=in_order, backwards=page_span.backwards
            )

        return page_rows(query.page, query.per_page, total, read, values, at_once=at_once)

    def rows_in_turn() -> Iterable[Row]:
        """The rows of a page that may be large: first their sizes, then the rows by key."""
        sizes = list(rows((TABLE.key(statement.dialect), Project.stored_bytes)))
        _prepare_page(sum(size for _, size in sizes))
        if is_first:
            return rows(COLUMNS, _ROWS)
        keys = [key for key, _ in sizes]
        named = named_rows_query(statement, COLUMNS)
        return chain.from_iterable(named.stream(_ROWS, **values, keys=keys))

    if not boundaries:
        records = starmap(row_summary, rows(SUMMARY_COLUMNS))
    elif counted.stored_bytes > EXPENSIVE_PAGE_BYTES:
        records = starmap(row_record, rows_in_turn())
    else:
        records = starmap(row_record, rows(COLUMNS, _ROWS))
    return pick_fields(records, query.fields), total


def scan_projects(
    read: Reader, account_id: str, query: ListQuery, *, metadata_only: bool = False
) -> Iterator[list[Any]]:
    """Yield the records of all projects that match the filters of a query, in batches.

    Args:
        metadata_only: yield the JSON text of their metadata, or None, instead of records.
    """
    columns_read = (Project.metadata_json,) if metadata_only else COLUMNS
    size = None if metadata_only else Project.stored_bytes
    make: Callable[..., Any] = (lambda text: text) if metadata_only else row_record
    return scan_list(
        read, TABLE, account_id, account_id, query, output=columns_read, size=size, make=make
    )


def projects_with_ids(account_id: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """The summaries of at most LIST_IDS projects by id, sorted by name; unknown ids are ignored."""
    valid_ids = tuple(project_id for project_id in ids if is_id("project", project_id))
    query = ListQuery(ids=valid_ids, per_page=LIST_IDS, sort="name")
    return list(list_projects(account_id, query, boundaries=False)[0]) if valid_ids else []


def located_total(account_id: str, status: str | None) -> int:
    """The number of projects with a boundary: all by the counters, less those without one.

    Args:
        status: None for any.
    """
    values = {"account_id": account_id} | ({"status": status} if status else {})
    nowhere = totals.count_total(_count_nowhere(bool(status)), values)
    return max(0, count_with_status(read_counters(account_id), status) - nowhere)


@cache
def _count_nowhere(has_status: bool) -> CompiledQuery:
    """Count the projects without a boundary."""
    nowhere = columns_of(Project, Project.id).where(Project.area_m2.is_(None))
    if has_status:
        nowhere = nowhere.where(Project.status == bindparam("status"))
    return totals.count_statement(nowhere)


@cache
def _count_by_area(has_status: bool) -> CompiledQuery:
    """Count the projects in a box on SQLite, from the index of areas alone."""
    table = TABLE.table
    rows = columns_of(Project, Project.account_id, Project.id, Project.status)
    rows = rows.where(Project.area_m2.is_not(None), overlaps_box(table, TABLE.sides))
    order = sorted_by(TABLE, table.c, "area_m2", descending=True)
    in_box = rows.order_by(*order).offset(literal_column("0")).subquery("found")
    keys = columns_among(in_box, "id", is_kept=True)
    if has_status:
        keys = keys.where(in_box.c.status == bindparam("status"))
    return totals.count_statement(keys)


def _status_totals(account_id: str) -> tuple[int, int]:
    counted = read_counters(account_id)
    return project_total(counted), int(counted.stored_bytes)


FEATURES: Final = FeatureSource(
    TABLE,
    (
        *columns_of_fields(Project, PROJECTS.property_fields),
        Project.metadata_json,
        Project.geometry,
    ),
    TABLE.table.c.stored_bytes + func.coalesce(byte_length(TABLE.table.c.description), 0),
    Project.geometry,
    _status_totals,
)


def _with_cheapest_index(
    account_id: str,
    query: ListQuery,
    statement: ListStatement,
    values: dict[str, Any],
    everything: int,
) -> ListStatement:
    """The statement with the cheapest index."""
    if not query.bbox or statement.index not in ("text", "box"):
        return statement
    if everything > MANY and holds_all(TABLE, account_id, query.bbox):
        return statement.anywhere
    if statement.index == "text" and _is_frequent(statement.dialect, values):
        return replace(statement, index="box")
    return statement


def _count_projects(
    account_id: str,
    query: ListQuery,
    statement: ListStatement,
    values: dict[str, Any],
    everything: int,
) -> int:
    """The number of projects that a statement finds."""
    status = query.filters.get("status")
    others = query.conditions - {"status"}
    if not others:
        return everything
    if statement.located and others == {"bbox"}:
        return located_total(account_id, status)
    by_filters = count_query(statement)
    is_box = others == {"bbox"} and statement.index == "box"
    if not is_box or statement.dialect != "sqlite" or everything <= MANY:
        return totals.count_total(by_filters, values)

    def cheapest() -> CompiledQuery:
        """Scan the index of areas if the box contains a large part of all projects."""
        most = everything // _LARGE_PART
        named = int(count_named(TABLE, "sqlite", "box").scalar(**values, most=most))
        return _count_by_area(bool(status)) if named == most else by_filters

    return totals.count_total(by_filters, values, cheapest)


def _is_frequent(dialect: str, values: dict[str, Any]) -> bool:
    """True if the index of texts finds MANY rows, so that a search begins with the box."""
    return int(count_named(TABLE, dialect, "text").scalar(**values, most=MANY)) == MANY


def _prepare_page(size: int) -> None:
    """Reject a page with too many bytes of boundaries, and wait for the turn of a large one."""
    if size > LIST_BYTES:
        message = (
            f"This page would be larger than {LIST_BYTES // 1024**2} MB. Ask for fewer records "
            "with per_page, or leave the boundaries out with fields."
        )
        raise BadRequest(message, details=[Detail("per_page", message, "too_large")])
    if size > EXPENSIVE_PAGE_BYTES:
        answer_in_turn()


def count_with_status(counted: Any, status: str | None) -> int:
    """The number of projects with a status, or with any, from the counters of the account."""
    if status:
        return int(getattr(counted, f"projects_{status}"))
    return project_total(counted)
