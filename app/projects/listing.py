"""All projects that a query finds, in numbered pages or one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, starmap
from typing import Any, Final

from sqlalchemy import func

from app.api.expensive import answer_in_turn
from app.db.column_types import byte_length
from app.db.queries import CompiledQuery
from app.db.search_index import id_values
from app.formats.writers.features import PROJECTS
from app.http.errors import BadRequest, Detail
from app.lists import totals
from app.lists.pages import Row, Span, is_among_the_first, is_near, page_rows, span
from app.lists.query import FeatureSource, ListQuery, SearchedTable, list_query, pick_fields
from app.lists.scanning import Reader, scan_list
from app.lists.statements import (
    Columns,
    count_named,
    count_query,
    list_statement,
    named_rows_query,
    page_query,
    whole_rows_query,
)
from app.models import Project
from app.policy.bounds import EXPENSIVE_PAGE_BYTES, LIST_BYTES, LIST_IDS
from app.policy.fields import PROJECT
from app.projects.record import COLUMNS, SIDES, SUMMARY_COLUMNS, row_record, row_summary
from app.usage.counters import counters, project_total
from app.values.ids import is_id
from app.values.records import columns

_SORTS = {
    "name": "name_key",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "area_hectares": "area_m2",
}
TABLE = SearchedTable(Project, PROJECT, "account_id", SIDES, _SORTS)
_ROWS = 2  # rows in memory at once, each with a boundary of up to MAX_BODY_BYTES
_MANY = 2_000  # rows that an index of texts names: to test them takes a few milliseconds


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
    statement = list_statement(TABLE, query)
    values = statement.values(account_id, account_id, query)
    if statement.index == "text" and query.bbox and _is_frequent(statement.dialect, values):
        statement = replace(statement, index="box")
    counted = counters(account_id)
    everything = total = count_with_status(counted, query.equal.get("status"))
    is_counted = set(statement.equal) <= {"status"} and not statement.updated_since
    if statement.is_searched or not is_counted:
        total = totals.count(count_query(statement), values)
    is_filtered = statement.equal or statement.is_searched or statement.updated_since
    wanted = span(query.page, query.per_page, total)
    is_first = not is_filtered and wanted is not None and is_among_the_first(wanted)

    def rows(shown: Columns, at_once: int | None = None) -> Iterable[Row]:
        def read(wanted: Span) -> CompiledQuery:
            if is_first:
                return whole_rows_query(statement, shown)
            in_order = is_near(wanted, total, everything)
            return page_query(statement, shown, in_order=in_order, backwards=wanted.backwards)

        return page_rows(query.page, query.per_page, total, read, values, at_once=at_once)

    def rows_in_turn() -> Iterable[Row]:
        """The rows of a page that may be large. They are sought once, for their sizes."""
        found = list(rows((TABLE.key(statement.dialect), Project.stored_bytes)))
        _prepare(sum(size for _, size in found))
        if is_first:
            return rows(COLUMNS, _ROWS)
        keys = id_values([key for key, _ in found], statement.dialect)
        named = named_rows_query(statement, COLUMNS)
        return chain.from_iterable(named.stream(_ROWS, account_id=account_id, keys=keys))

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


def _totals(account_id: str) -> tuple[int, int]:
    counted = counters(account_id)
    return project_total(counted), int(counted.stored_bytes)


FEATURES: Final = FeatureSource(
    TABLE,
    (*columns(Project, PROJECTS.property_fields), Project.metadata_json, Project.geometry),
    TABLE.table.c.stored_bytes + func.coalesce(byte_length(TABLE.table.c.description), 0),
    Project.geometry,
    _totals,
)


def _is_frequent(dialect: str, values: dict[str, Any]) -> bool:
    """True if the index of texts names _MANY rows, so that a search begins with the box instead."""
    return int(count_named(TABLE, dialect, "text").scalar(**values, most=_MANY)) == _MANY


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


def count_with_status(counted: Any, status: str | None) -> int:
    """The number of projects of the account, from its counters; None: of any status."""
    if status:
        return int(getattr(counted, f"projects_{status}"))
    return project_total(counted)
