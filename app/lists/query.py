"""The query of a list: its filters, their values, and the index that finds the fewest rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Table
from sqlalchemy.orm import InstrumentedAttribute

from app.db.column_types import Base
from app.db.queries import engine
from app.db.search_index import DrivingIndex, box_values, driving_index, id_values, text_values
from app.geometry import Bounds
from app.policy.fields import Field


class ListQuery(NamedTuple):
    """Which rows, in which order, which page."""

    page: int = 1
    per_page: int = 20
    equal: Mapping[str, Any] = {}  # values by the columns of ``Field.filter``
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


class StatementFilters(NamedTuple):
    """Which filters a statement has, and which index finds the rows."""

    dialect: str
    equal: tuple[str, ...] = ()
    search: bool = False
    bbox: bool = False
    ids: bool = False
    within: bool = False
    updated_since: bool = False
    driving_index: DrivingIndex = "owner"

    @property
    def are_searched(self) -> bool:
        """Whether an index finds the rows before they are sorted."""
        return bool(self.search or self.bbox or self.driving_index in ("ids", "key"))


@dataclass(frozen=True, eq=False)
class SearchedTable:
    """A table with lists that are filtered, searched and sorted.

    Args:
        owner: the column that says whose the rows of a list are.
        sides: the columns of a row's box: west, south, east, north.
        sorts: the columns that a list can be sorted by.
    """

    model: type[Base]
    fields: tuple[Field, ...]
    owner: str
    sides: tuple[str, str, str, str]
    sorts: tuple[str, ...]

    @property
    def table(self) -> Table:
        return cast("Table", self.model.__table__)

    @property
    def project(self) -> ColumnElement[Any]:
        """The column with the id of a row's project."""
        return self.table.c["id" if self.table.name == "projects" else "project_id"]

    def key(self, dialect: str) -> InstrumentedAttribute[Any]:
        """What a page's rows are looked up by: the cheapest of the unique columns."""
        return self.attribute("row" if dialect == "sqlite" else "id")

    def attribute(self, name: str) -> InstrumentedAttribute[Any]:
        """An attribute of the model."""
        return cast("InstrumentedAttribute[Any]", getattr(self.model, name))


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
    others = {name: value for name, value in values.items() if name not in filters}
    return ListQuery(**others, equal=equal)


def filters_of(table: SearchedTable, query: ListQuery) -> StatementFilters:
    """The filters of a query, and the index that finds the fewest rows for them."""
    unique = {field.stored_as for field in table.fields if field.unique}
    driving = driving_index(query.search, query.bbox)
    if query.ids or query.within is not None:
        driving = "ids"
    elif unique & query.equal.keys():
        driving = "key"
    elif driving == "owner" and query.updated_since:
        driving = "time"
    return StatementFilters(
        engine().dialect.name,
        tuple(query.equal),
        bool(query.search),
        bool(query.bbox),
        bool(query.ids),
        query.within is not None,
        query.updated_since is not None,
        driving,
    )


def parameters(
    table: SearchedTable, account_id: str, owner_id: str, query: ListQuery, dialect: str
) -> dict[str, Any]:
    """The parameters of the statements for a query; ``owner_id`` is the value of ``owner``."""
    values = {"account_id": account_id, table.owner: owner_id, **query.equal}
    if query.search:
        values |= text_values(query.search, owner_id, dialect)
    if query.bbox:
        values |= box_values(query.bbox, owner_id, dialect)
    if query.ids:
        values["ids"] = id_values(query.ids, dialect)
    if query.within is not None:
        values["within"] = id_values(query.within, dialect)
    if query.updated_since:
        values["updated_since"] = query.updated_since
    return values


def pick_fields(
    records: Iterable[dict[str, Any]], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The records with these fields only; with all where there are no names."""
    for record in records:
        yield {name: record[name] for name in names} if names else record
