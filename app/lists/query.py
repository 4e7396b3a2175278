"""Queries of lists, and the tables of projects and assets that are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Table
from sqlalchemy.orm import InstrumentedAttribute

from app.db.column_types import Base
from app.geometry import Bounds
from app.policy.fields import Field


class ListQuery(NamedTuple):
    """The rows, the order and the page that a list is asked for."""

    page: int = 1
    per_page: int = 20
    equal: Mapping[str, Any] = {}  # values by the columns of ``Field.filter``
    metadata: Mapping[str, str] = {}  # values by the keys of the metadata
    search: str | None = None
    bbox: Bounds | None = None
    ids: tuple[str, ...] = ()  # empty: any
    within: tuple[str, ...] | None = None  # ids of the projects that rows belong to; None: any
    updated_since: datetime | None = None
    sort: str = "created_at"
    order: str | None = None  # None: newest first, and else ascending
    fields: tuple[str, ...] = ()  # of the records that are asked for; empty: all

    @property
    def descending(self) -> bool:
        return (self.order or ("desc" if self.sort == "created_at" else "asc")) == "desc"


@dataclass(frozen=True, eq=False)
class SearchedTable:
    """A table with lists that are filtered, searched and sorted.

    Args:
        owner: the column that says whose the rows of a list are.
        sides: the columns of a row's box: west, south, east, north.
        sorts: the columns that a list can be sorted by, by the names that queries have for them.
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

    def key(self, dialect: str) -> InstrumentedAttribute[Any]:
        """The cheapest of the unique columns, by which the rows of a page are looked up."""
        return self.attribute("row" if dialect == "sqlite" else "id")

    def attribute(self, name: str) -> InstrumentedAttribute[Any]:
        """An attribute of the model."""
        return cast("InstrumentedAttribute[Any]", getattr(self.model, name))


@dataclass(frozen=True, eq=False)
class FeatureSource:
    """A table whose rows are read as features of OGC API Features.

    Args:
        shown: the columns that are read: those of the properties, the JSON of the metadata, and
            the JSON of the geometry.
        bytes: the size of a row, without what is short in every row.
        boundary: the column with the GeoJSON of a boundary; None for a table of points, whose
            ``sides`` are their positions.
        totals: returns the number of an account's rows, None if they have to be counted, and the
            bytes that it stores.
    """

    table: SearchedTable
    shown: tuple[InstrumentedAttribute[Any], ...]
    bytes: ColumnElement[int]
    boundary: InstrumentedAttribute[Any] | None
    totals: Callable[[str], tuple[int | None, int]]


def list_query(fields: Sequence[Field], values: Mapping[str, Any]) -> ListQuery:
    """The query of a list.

    Args:
        values: of the filters in ``fields`` and of the attributes of ListQuery; None: not filtered.
    """
    filters = {field.name: field.stored_as for field in fields if field.filter}
    equal = {
        filters[name]: value
        for name, value in values.items()
        if name in filters and value is not None
    }
    attributes = {name: value for name, value in values.items() if name not in filters}
    return ListQuery(**attributes, equal=equal)


def pick_fields(
    records: Iterable[dict[str, Any]], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the records with these fields only; with all if there are no names."""
    for record in records:
        yield {name: record[name] for name in names} if names else record
