"""Lists of projects: filtered, searched and sorted from an index, paged without overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import starmap
from typing import Any, Literal, NamedTuple

from sqlalchemy import bindparam, func, select

from app.api.expensive import answer_in_turn
from app.auth.tenant import columns_of
from app.db.paging import Span, is_among_the_first, is_near
from app.db.queries import CompiledQuery
from app.db.search_index import named_by_text, page_of
from app.http.errors import BadRequest, Detail
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
    Row,
    count_statement,
    keys_found,
    keys_in_order,
    page_rows,
    page_statement,
    sorted_by,
)
from app.models import Project
from app.policy.bounds import EXPENSIVE_PAGE_BYTES, LIST_BYTES, LIST_IDS
from app.policy.fields import PROJECT
from app.projects.record import COLUMNS, SIDES, SUMMARY_COLUMNS, row_record, row_summary
from app.usage.counters import counters, project_total
from app.values.ids import is_id

_SORTS = {
    "name": "name_key",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "area_hectares": "area_m2",
}
TABLE = SearchedTable(Project, PROJECT, "account_id", SIDES, tuple(_SORTS.values()))
_ROWS = 2  # rows in memory at once, each with a boundary of up to MAX_BODY_BYTES
_MANY = 2_000  # rows that an index of texts names: to test them takes a few milliseconds


_Read = Literal["records", "summaries", "sizes"]


class _Order(NamedTuple):
    """How the rows of a page are sorted, from which end they are counted, and what is read."""

    sort: str
    descending: bool
    backwards: bool
    read: _Read


def project_query(**values: Any) -> ListQuery:
    """The query of a list of projects, from the values of ``ProjectQuerySchema``."""
    return list_query(PROJECT, values)


def list_projects(
    account_id: str, query: ListQuery, *, boundaries: bool = True
) -> tuple[Iterator[dict[str, Any]], int]:
    """The records of one page, each read when it is asked for, and the number on all pages.

    Args:
        boundaries: False: summaries, with the box around each boundary in its place.

    Raises:
        BadRequest: the page would be larger than a page may be.
        ServiceUnavailable: it is large, and too many others are before it.
    """
    boundaries = boundaries and (not query.fields or "geometry" in query.fields)
    filters = filters_of(TABLE, query)
    values = parameters(TABLE, account_id, account_id, query, filters.dialect)
    if filters.driving_index == "text" and query.bbox and _is_frequent(filters, values):
        filters = filters._replace(driving_index="box")
    counted = counters(account_id)
    everything = total = _counted(counted, query.equal.get("status"))
    is_counted = set(filters.equal) <= {"status"} and not filters.updated_since
    if filters.are_searched or not is_counted:
        total = int(count_statement(TABLE, filters).scalar(**values))

    def statement(wanted: Span, read: _Read) -> CompiledQuery:
        sort = _SORTS[query.sort]
        order = _Order(sort, query.descending, wanted.backwards, read)
        is_filtered = filters.equal or filters.are_searched or filters.updated_since
        if not is_filtered and is_among_the_first(wanted):
            return _page_at_once(order)
        return _page(filters, order, is_near(wanted, total, everything))

    def rows(read: _Read, at_once: int | None = None) -> Iterable[Row]:
        made = partial(statement, read=read)
        return page_rows(query.page, query.per_page, total, made, values, at_once=at_once)

    if boundaries and counted.stored_bytes > EXPENSIVE_PAGE_BYTES:
        _prepare(sum(size for (size,) in rows("sizes")))
    records = (
        starmap(row_record, rows("records", _ROWS))
        if boundaries
        else starmap(row_summary, rows("summaries"))
    )
    return pick_fields(records, query.fields), total


def scan_projects(
    read: Reader, account_id: str, query: ListQuery, *, metadata_only: bool = False
) -> Iterator[list[Any]]:
    """Yield the records of all projects that the filters of a query leave, in batches.

    Args:
        metadata_only: the JSON text of their metadata instead, None where there is none.
    """
    shown = (Project.metadata_json,) if metadata_only else COLUMNS
    size = None if metadata_only else Project.stored_bytes
    make: Callable[..., Any] = (lambda text: text) if metadata_only else row_record
    return scan_list(read, TABLE, account_id, account_id, query, shown=shown, size=size, make=make)


def projects_with_ids(account_id: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """The summaries of those of at most LIST_IDS projects that the account has, by name."""
    known = tuple(each for each in ids if is_id("project", each))
    query = ListQuery(ids=known, per_page=LIST_IDS, sort="name")
    return list(list_projects(account_id, query, boundaries=False)[0]) if known else []


def _is_frequent(filters: StatementFilters, values: dict[str, Any]) -> bool:
    """Whether the index of texts names so many rows that a search begins with the box instead."""
    return int(_count_some(filters.dialect).scalar(**values, most=_MANY)) == _MANY


def _prepare(size: int) -> None:
    """Refuse a page whose boundaries have too many bytes, and wait for the turn of a large one."""
    if size > LIST_BYTES:
        message = (
            f"This page would be larger than {LIST_BYTES // 1024**2} MB. Ask for fewer records "
            "with per_page, or leave the boundaries out with fields."
        )
        raise BadRequest(message, details=[Detail("per_page", message)])
    if size > EXPENSIVE_PAGE_BYTES:
        answer_in_turn()


def _counted(counted: Any, status: str | None) -> int:
    """How many projects the account has, from its counters."""
    if status:
        return int(getattr(counted, f"projects_{status}"))
    return project_total(counted)


@cache
def _count_some(dialect: str) -> CompiledQuery:
    """How many projects the index of texts names, but at most ``most``."""
    some = named_by_text(TABLE.table, dialect, "account_id").limit(bindparam("most")).subquery()
    return CompiledQuery(select(func.count().label("total")).select_from(some))


@cache
def _page(filters: StatementFilters, order: _Order, in_order: bool) -> CompiledQuery:
    """A page of the index that has the order, or else of what an index finds, all of which is
    sorted for it."""
    keys = keys_in_order(TABLE, filters) if in_order else keys_found(TABLE, filters)
    sort = (order.sort, order.descending)
    shown = _columns(order)
    return page_statement(TABLE, keys, shown, filters.dialect, sort, backwards=order.backwards)


@cache
def _page_at_once(order: _Order) -> CompiledQuery:
    """A page of all projects, read whole on the way: cheaper where few are skipped."""
    page = columns_of(Project, *_columns(order))
    sorts = sorted_by(TABLE, TABLE.table.c, order.sort, descending=order.descending)
    return CompiledQuery(page_of(page.order_by(*sorts)))


def _columns(order: _Order) -> tuple[Any, ...]:
    if order.read == "sizes":
        return (Project.stored_bytes,)
    return COLUMNS if order.read == "records" else SUMMARY_COLUMNS
