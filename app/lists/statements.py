"""The SQL of the lists of projects and assets.

The values of filters are parameters, so that each combination of filters is compiled once. A page
finds its keys in an index first, and then reads the rows. Every statement here
begins with ``columns_of`` or goes out through ``columns_among``, the tenant filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from sqlalchemy import Boolean, ColumnElement, Select, and_, bindparam, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.auth.tenant import columns_among, columns_of
from app.db.column_types import api_column
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import (
    DrivingIndex,
    as_stored,
    box_values,
    driving_index,
    exact_tests,
    fenced_rows,
    indexed_candidates,
    is_among_ids,
    key_among,
    named_by_box,
    named_by_text,
    overlaps_box,
    page_of,
    text_values,
)
from app.lists.conditions import OPERATORS, is_imported
from app.lists.metadata import numbered_tests, numbered_values
from app.lists.query import ListQuery, SearchedTable
from app.lists.totals import count_statement
from app.policy.fields import IMPORT, filters_of

Columns = tuple[InstrumentedAttribute[Any], ...]


@dataclass(frozen=True)
class ListStatement:
    """The statement of a list without the values that it is filtered by.

    Args:
        filters: the names of the filters, whose values are parameters of the same name.
        metadata: the number of filters by keys of the metadata.
        index: the index that finds the fewest rows for the filters.
        sort: the column that sorts the list, before the id.
    """

    table: SearchedTable
    dialect: str
    filters: tuple[str, ...]
    metadata: int
    search: bool
    bbox: bool
    located: bool  # only rows with a place: the box contains all of them
    ids: bool
    within: bool
    index: DrivingIndex
    sort: str
    descending: bool

    @property
    def anywhere(self) -> ListStatement:
        """The statement for a box that contains everything: rows with a place match. Only the rows
        of a page are tested, as one outside the box may have been written meanwhile."""
        index = _scanned_index(self.table, self.filters) if self.index == "box" else self.index
        return replace(self, bbox=False, located=True, index=index)

    @property
    def is_searched(self) -> bool:
        """True if an index finds the rows before they are sorted."""
        return self.search or self.bbox or self.index in ("ids", "key")

    def values(self, account_id: str, owner_id: str, query: ListQuery) -> dict[str, Any]:
        """The parameters for a query; ``owner_id`` is the value of the table's ``owner``."""
        values = {"account_id": account_id, self.table.owner: owner_id, **query.filters}
        values |= numbered_values(query.metadata)
        if query.search:
            values |= text_values(query.search, owner_id, self.dialect)
        if query.bbox:
            values |= box_values(query.bbox, owner_id, self.dialect)
        if query.ids:
            values["ids"] = query.ids
        if query.within is not None:
            values["within"] = query.within
        return values

    def filtered(self, rows: Select[Any]) -> Select[Any]:
        """Select the account's rows that match the filters."""
        return rows.where(*self.equalities(self.table.table.c), *self.tests())

    def equalities(self, columns: Any) -> list[ColumnElement[bool]]:
        """The filters by one value, and by the owner if that is not the account."""
        owner = self.table.owner
        is_owned = [] if owner == "account_id" else [columns[owner] == bindparam(owner)]
        return is_owned + [self._condition(name, columns) for name in self._by_sign(is_equal=True)]

    def tests(self) -> list[ColumnElement[bool]]:
        """The other filters, which are tested on each row that an index returns."""
        table = self.table.table
        filters = {"search": self.search, "bbox": self.bbox}
        tests = exact_tests(table, self.dialect, self.table.sides, **filters)
        tests += numbered_tests(table.c.metadata_json, self.dialect, self.metadata)
        if self.located:
            tests.append(table.c[self.table.sides[0]].is_not(None))
        if self.ids:
            tests.append(is_among_ids(table.c.id))
        if self.within:
            tests.append(is_among_ids(self.table.project, "within"))
        return tests + [self._condition(name, table.c) for name in self._by_sign(is_equal=False)]

    def without_scanned(self) -> ListStatement:
        """The statement without the filters of ``tests``, but for ids and those of an import."""
        kept = (*self._by_sign(is_equal=True), *self._imported)
        return replace(self, filters=kept, metadata=0, search=False, bbox=False)

    def scanned(self) -> list[ColumnElement[bool]]:
        """The ``tests`` that ``without_scanned`` leaves out."""
        others = tuple(name for name in self.filters if name not in self._imported)
        return replace(self, filters=others, ids=False, within=False).tests()

    @property
    def _imported(self) -> tuple[str, ...]:
        return (IMPORT.name,) if IMPORT.name in self.filters else ()

    def _by_sign(self, *, is_equal: bool) -> list[str]:
        filters = filters_of(self.table.fields)
        return [name for name in self.filters if (filters[name].sign == "=") == is_equal]

    def _condition(self, name: str, columns: Any) -> ColumnElement[bool]:
        chosen = filters_of(self.table.fields)[name]
        if chosen.sign == "in":
            return is_imported(self.table, bindparam(name))
        column = self.table.column(chosen.field, columns)
        if chosen.sign == "has":
            return column.is_not(None) == bindparam(name, type_=Boolean())
        compared: ColumnElement[bool] = OPERATORS[chosen.sign](column, bindparam(name))
        return compared


def list_statement(table: SearchedTable, query: ListQuery) -> ListStatement:
    """The statement of a query, whatever its values and page."""
    unique = {field.name for field in table.fields if field.unique}
    index = driving_index(query.search, query.bbox)
    if query.ids or query.within is not None or IMPORT.name in query.filters:
        index = "ids"
    elif unique & query.filters.keys():
        index = "key"
    elif index == "owner":
        index = _scanned_index(table, query.filters)
    return ListStatement(
        table,
        reading_engine().dialect.name,
        tuple(query.filters),
        len(query.metadata),
        search=bool(query.search),
        bbox=bool(query.bbox),
        located=False,
        ids=bool(query.ids),
        within=query.within is not None,
        index=index,
        sort=table.sorts[query.sort],
        descending=query.descending,
    )


def _scanned_index(table: SearchedTable, filters: Iterable[str]) -> DrivingIndex:
    """The index without a search, a box and ids: any that the database chooses for a range."""
    signs = {filters_of(table.fields)[name].sign for name in filters}
    return "range" if signs & {">=", "<="} else "owner"


@cache
def count_query(statement: ListStatement) -> CompiledQuery:
    """Count the rows of all pages, for ``app.lists.totals.count_total``."""
    keys, _ = _keys_found(statement) if statement.is_searched else _keys_in_order(statement)
    return count_statement(keys)


@cache
def count_named(table: SearchedTable, dialect: str, index: Literal["text", "box"]) -> CompiledQuery:
    """Count the rows that an index finds, up to ``most``, without testing them."""
    if index == "text":
        named = named_by_text(table.table, dialect, table.owner)
    else:
        named = named_by_box(table.table, dialect, table.owner, table.sides)
    limited = named.limit(bindparam("most")).subquery()
    return CompiledQuery(select(func.count().label("total")).select_from(limited))


@cache
def page_query(
    statement: ListStatement, output: Columns, *, in_order: bool, backwards: bool = False
) -> CompiledQuery:
    """Read the rows of a page, which the parameters of ``page_of`` select.

    Args:
        output: the columns that are read.
        in_order: read the keys from an index in the order of the list; otherwise from the index
            that finds the fewest rows, and sort them.
        backwards: the page is counted from the end of the list.
    """
    table, sort = statement.table, statement.sort
    keys, columns = _keys_in_order(statement) if in_order else _keys_found(statement)
    descending = statement.descending != backwards
    keys = keys.order_by(*sorted_by(table, columns, sort, descending=descending))
    in_page = key_among(table.key(statement.dialect).expression, page_of(keys))
    return _whole_rows(statement, output, in_page, is_kept=True)


@cache
def named_rows_query(statement: ListStatement, output: Columns) -> CompiledQuery:
    """Read the rows of a page by the parameter ``keys``, values of ``SearchedTable.key``."""
    key = statement.table.key(statement.dialect).expression
    is_named = is_among_ids(key, "keys")
    return _whole_rows(statement, output, is_named, is_kept=False)


def _whole_rows(
    statement: ListStatement, output: Columns, condition: ColumnElement[bool], *, is_kept: bool
) -> CompiledQuery:
    table, names = statement.table, ["account_id", "id", *statement.table.sorts.values()]
    names += table.sides if statement.located else ()
    hidden = {name: table.attribute(name) for name in names}
    read = hidden | {column.key: column for column in output}
    rows = fenced_rows([api_column(column) for column in read.values()], condition)
    page = columns_among(rows, *(column.key for column in output), is_kept=is_kept)
    if statement.located:
        page = page.where(overlaps_box(rows, table.sides))
    order = sorted_by(table, rows.c, statement.sort, descending=statement.descending)
    return CompiledQuery(page.order_by(*order))


@cache
def whole_rows_query(statement: ListStatement, output: Columns) -> CompiledQuery:
    """Read the rows of a page without filters in one step, which is cheaper if few are skipped."""
    table = statement.table
    order = sorted_by(table, table.table.c, statement.sort, descending=statement.descending)
    return CompiledQuery(page_of(columns_of(table.model, *output).order_by(*order)))


def sorted_by(table: SearchedTable, columns: Any, sort: str, *, descending: bool) -> list[Any]:
    """The order by a column and then by id. Rows without a value count as the smallest.

    NULLS FIRST or LAST is only for nullable columns: otherwise PostgreSQL would not use the index.
    """
    column, key = columns[sort], columns.id
    first = column.desc() if descending else column.asc()
    if table.table.c[sort].nullable:
        first = first.nulls_last() if descending else first.nulls_first()
    return [first, key.desc() if descending else key.asc()]


def _keys_in_order(statement: ListStatement) -> tuple[Select[Any], Any]:
    """Return (select of the keys from an index that has them in order, sort columns)."""
    table = statement.table
    keys = columns_of(table.model, table.key(statement.dialect))
    return statement.filtered(keys), table.table.c


def _keys_found(statement: ListStatement) -> tuple[Select[Any], Any]:
    """Return (select of the keys from the index that finds the fewest rows, sort columns)."""
    searched, dialect, index = statement.table, statement.dialect, statement.index
    table, sides = searched.table, searched.sides
    conditions: list[Any] = []
    if index != "ids":  # else SQLite would use the owner's index
        conditions = [indexed_candidates(table, dialect, index, searched.owner, sides)]
    if index not in ("text", "box", "ids"):
        conditions += statement.equalities(table.c)
    filtered = [field.stored_as for field in searched.fields if "equals" in field.filters]
    sorts = searched.sorts.values()
    names = dict.fromkeys(("row", "id", "account_id", searched.owner, *filtered, *sorts))
    source = fenced_rows(
        [table.c[name] for name in names],
        and_(*conditions, *statement.tests()),
        *as_stored(table, dialect, index),
    )
    keys = columns_among(source, searched.key(dialect).key)
    return keys.where(*statement.equalities(source.c)), source.c
