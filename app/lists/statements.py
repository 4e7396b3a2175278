"""The statements of a list: how many rows, and the rows of a page.

Statements are built once for each combination of filters; the values are parameters. A page's keys
are found first, in an index, and only then are its rows read whole. Every statement here begins
with ``columns_of`` or goes out through ``columns_among``, the tenant filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import Timestamp, api_column
from app.db.paging import Span, span
from app.db.queries import CompiledQuery, engine
from app.db.search_index import (
    among,
    as_stored,
    candidates,
    exact_tests,
    fence,
    id_values,
    is_among_ids,
    page_of,
)
from app.lists.query import SearchedTable, StatementFilters

Row = tuple[Any, ...]
Keys = tuple[Select[Any], Any]  # the keys of rows, and the columns by which they can be sorted


def page_rows(
    number: int,
    size: int,
    total: int,
    statement: Callable[[Span], CompiledQuery],
    values: dict[str, Any],
    *,
    at_once: int | None = None,
) -> Iterable[Row]:
    """The rows of a page; none past the end.

    A page of the second half is counted from the end, so that at most half of the list is skipped.

    Args:
        number: of the page, from 1.
        size: rows of a page.
        total: rows of all pages.
        at_once: rows that are in memory at once; None: all.
    """
    wanted = span(number, size, total)
    if wanted is None:
        return ()
    compiled = statement(wanted)
    values = values | {"size": wanted.size, "skipped": wanted.skipped}
    if at_once is None:
        return compiled.tuples(**values)
    return chain.from_iterable(compiled.stream(at_once, **values))


def newest_first(
    keys: Select[Any],
    rows: Select[Any],
    order: Sequence[ColumnElement[Any]],
    dialect: str,
    *,
    backwards: bool,
) -> CompiledQuery:
    """The rows of a page of a list that is not searched.

    Args:
        keys: selects the last column of ``order``, which is unique, of the rows of all pages.
        rows: selects what is read.
        order: the columns that sort the list.
    """
    latest = [column.desc() for column in order]
    keys = keys.order_by(*(order if backwards else latest))
    return CompiledQuery(rows.where(among(order[-1], page_of(keys), dialect)).order_by(*latest))


@cache
def count_statement(table: SearchedTable, filters: StatementFilters) -> CompiledQuery:
    """How many rows the filters leave."""
    find = keys_found if filters.are_searched else keys_in_order
    keys, _ = find(table, filters)
    return CompiledQuery(select(func.count().label("total")).select_from(keys.subquery()))


def keys_in_order(table: SearchedTable, filters: StatementFilters) -> Keys:
    """The keys from an index that has them in order; search and box are tested on the way."""
    keys = columns_of(table.model, table.key(filters.dialect))
    columns = table.table.c
    conditions = (*equal_to(table, columns, filters), *exact_conditions(table, filters))
    return keys.where(*conditions), columns


def keys_found(table: SearchedTable, filters: StatementFilters) -> Keys:
    """The keys from the index that finds the rows; they have no order yet."""
    index = filters.driving_index
    conditions = []
    if index != "ids":  # with the owner's index beside it, SQLite would take that one
        conditions = [candidates(table.table, filters.dialect, index, table.owner, table.sides)]
    if index not in ("text", "box", "ids"):
        conditions += equal_to(table, table.table.c, filters)
    filtered = [field.stored_as for field in table.fields if field.filter]
    names = dict.fromkeys(("row", "id", "account_id", table.owner, *filtered, *table.sorts))
    source = fence(
        [table.table.c[name] for name in names],
        and_(*conditions, *exact_conditions(table, filters)),
        *as_stored(table.table, filters.dialect, index),
    )
    keys = columns_among(source, table.key(filters.dialect).key)
    return keys.where(*equal_to(table, source.c, filters)), source.c


def page_statement(
    table: SearchedTable,
    found: Keys,
    shown: Sequence[InstrumentedAttribute[Any]],
    dialect: str,
    order: tuple[str, bool],
    *,
    backwards: bool,
) -> CompiledQuery:
    """The rows of a page.

    Args:
        shown: the columns that are read.
        order: the column that sorts the list, and whether the largest comes first.
        backwards: whether the page is counted from the end of the list.
    """
    (keys, columns), (sort, descending) = found, order
    keys = keys.order_by(*sorted_by(table, columns, sort, descending=descending != backwards))
    hidden = {name: getattr(table.model, name) for name in ("account_id", "id", *table.sorts)}
    read = hidden | {column.key: column for column in shown}
    rows = fence(
        [api_column(column) for column in read.values()],
        among(table.key(dialect).expression, page_of(keys), dialect),
    )
    page = columns_among(rows, *(column.key for column in shown))
    return CompiledQuery(page.order_by(*sorted_by(table, rows.c, sort, descending=descending)))


def project_limit(within: Sequence[str] | None) -> tuple[str | None, dict[str, Any]]:
    """The ``dialect`` of ``limited_to_projects``, and the parameters that the statement has then.

    Args:
        within: ids of the projects whose rows count; None: all.
    """
    dialect = engine().dialect.name
    return (None, {}) if within is None else (dialect, {"within": id_values(within, dialect)})


def limited_to_projects(
    rows: Select[Any], table: SearchedTable, dialect: str | None
) -> Select[Any]:
    """The rows of some projects, whose ids are a parameter.

    Args:
        dialect: of the database, as such a parameter differs; None: the rows of all projects.
    """
    return rows.where(is_within_projects(table, dialect)) if dialect else rows


def is_within_projects(table: SearchedTable, dialect: str) -> ColumnElement[bool]:
    """Whether a row belongs to one of the projects that a list is limited to."""
    return is_among_ids(table.project, dialect, "within")


def sorted_by(table: SearchedTable, columns: Any, sort: str, *, descending: bool) -> list[Any]:
    """By a column and then by id. Rows without a value count as the smallest.

    Where nulls go is said of columns that can be null only: PostgreSQL would take the index of
    another one for one of another order.
    """
    column, key = columns[sort], columns.id
    first = column.desc() if descending else column.asc()
    if table.table.c[sort].nullable:
        first = first.nulls_last() if descending else first.nulls_first()
    return [first, key.desc() if descending else key.asc()]


def equal_to(
    table: SearchedTable, columns: Any, filters: StatementFilters
) -> list[ColumnElement[bool]]:
    """What the tenant filter does not say: the owner, where it is no account, and the filters."""
    names = [name for name in (table.owner, *filters.equal) if name != "account_id"]
    return [columns[name] == bindparam(name) for name in names]


def exact_conditions(table: SearchedTable, filters: StatementFilters) -> list[ColumnElement[bool]]:
    """What is tested of each row that an index returns: text, box, ids, project, time of change."""
    wanted = {"search": filters.search, "bbox": filters.bbox}
    tests = exact_tests(table.table, filters.dialect, table.sides, **wanted)
    columns = table.table.c
    if filters.ids:
        tests.append(is_among_ids(columns.id, filters.dialect))
    if filters.within:
        tests.append(is_within_projects(table, filters.dialect))
    if filters.updated_since:
        tests.append(columns.updated_at >= bindparam("updated_since", type_=Timestamp()))
    return tests
