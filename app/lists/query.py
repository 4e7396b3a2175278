"""Queries of lists, and the tables of projects and assets that are listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Table
from sqlalchemy.orm import InstrumentedAttribute

from app.db.column_types import Base
from app.geometry import Bounds
from app.policy.fields import Field, Filter, filters_of
from app.policy.kinds import BOUNDARY, POINT


class ListQuery(NamedTuple):
    """The filters, the order and the page of a list."""

    page: int = 1
    per_page: int = 20
    filters: Mapping[str, Any] = {}  # stored values by the names of ``filters_of``
    metadata: Mapping[str, str] = {}  # values by the keys of the metadata
    search: str | None = None
    bbox: Bounds | None = None
    ids: tuple[str, ...] = ()  # empty: any
    within: tuple[str, ...] | None = None  # ids of the projects of rows; None: any
    sort: str = "created_at"
    order: str | None = None  # None: newest first, and else ascending
    fields: tuple[str, ...] = ()  # fields of the records; empty: all

    @property
    def conditions(self) -> set[str]:
        """The names of all that narrows the list. A short cut, such as a counter, names those that
        it knows, so that it never ignores another."""
        others = set(self._fields) - {"filters", "page", "per_page", "sort", "order", "fields"}
        chosen = {name for name in others if getattr(self, name) != self._field_defaults[name]}
        return chosen | self.filters.keys()

    @property
    def descending(self) -> bool:
        return (self.order or ("desc" if self.sort == "created_at" else "asc")) == "desc"


@dataclass(frozen=True, eq=False)
class SearchedTable:
    """A table with lists that are filtered, searched and sorted.

    Args:
        owner: the column with the owner of a list: account_id or project_id.
        sides: the columns of a row's box: west, south, east, north.
        sorts: the columns that sort a list, by their names in queries.
    """

    model: type[Base]
    fields: tuple[Field, ...]
    owner: str
    sides: tuple[str, str, str, str]
    sorts: Mapping[str, str]

    @property
    def table(self) -> Table:
        return cast("Table", self.model.__table__)

    @property
    def project(self) -> ColumnElement[Any]:
        """The column with the id of a row's project."""
        return self.table.c["id" if self.table.name == "projects" else "project_id"]

    def column(self, field: Field, columns: Any) -> ColumnElement[Any]:
        """The column of a field among some columns; a geometry's is a side of its box."""
        is_place = field.kind in (BOUNDARY, POINT)
        column: ColumnElement[Any] = columns[self.sides[0] if is_place else field.stored_as]
        return column

    def key(self, dialect: str) -> InstrumentedAttribute[Any]:
        """The cheapest unique column to look up the rows of a page by."""
        return self.attribute("row" if dialect == "sqlite" else "id")

    def attribute(self, name: str) -> InstrumentedAttribute[Any]:
        """An attribute of the model."""
        return cast("InstrumentedAttribute[Any]", getattr(self.model, name))


@dataclass(frozen=True, eq=False)
class FeatureSource:
    """A table whose rows are read as features of OGC API Features.

    Args:
        output: the columns to read: the properties, the JSON of the metadata and of the geometry.
        bytes: the size of a row, without what is short in every row.
        boundary: the column with the GeoJSON of a boundary; None for a table of points, whose
            ``sides`` are their positions.
        totals: returns (number of an account's rows or None if it must be counted, stored bytes).
    """

    table: SearchedTable
    output: tuple[InstrumentedAttribute[Any], ...]
    bytes: ColumnElement[int]
    boundary: InstrumentedAttribute[Any] | None
    totals: Callable[[str], tuple[int | None, int]]


def list_query(fields: tuple[Field, ...], values: Mapping[str, Any]) -> ListQuery:
    """The query of a list.

    Args:
        values: the values of ``filters_of(fields)`` and of attributes of ListQuery; None: no
            filter.
    """
    filters = filters_of(fields)
    chosen = {name: value for name, value in values.items() if value is not None}
    stored = {name: _stored(filters[name], chosen[name]) for name in filters if name in chosen}
    attributes = {name: value for name, value in chosen.items() if name not in filters}
    return ListQuery(**attributes, filters=stored)


def _stored(chosen: Filter, value: Any) -> Any:
    """The value that the column is compared with: of hectares, whole square meters."""
    factor = chosen.field.kind.factor
    if factor == 1 or chosen.sign == "has":
        return value
    exact = Decimal(repr(value)) * factor
    return math.floor(exact) if chosen.sign == "<=" else math.ceil(exact)


def pick_fields(
    records: Iterable[dict[str, Any]], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the records with these fields only; with all if there are no names."""
    for record in records:
        yield {name: record[name] for name in names} if names else record
