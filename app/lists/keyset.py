"""Keyset pagination: each page begins after the key of the last row of the previous one.

So no row is missing or repeated because others are written or deleted meanwhile, and no page costs
more than the first one.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, tuple_, type_coerce
from sqlalchemy.types import NullType

from app.db.search_index import page_of

Key = tuple[Any, ...]

_AS_STORED: Final = NullType()  # times that were written with SQL can be more precise


class Keyset:
    """The order of pages.

    Args:
        columns: columns that are unique together, in the order of an index.

    Attributes:
        names: the labels of ``labeled``.
    """

    def __init__(self, *columns: ColumnElement[Any]) -> None:
        self._columns = [type_coerce(column, _AS_STORED) for column in columns]
        self.names = [f"key_{number}" for number in range(len(columns))]

    @property
    def labeled(self) -> list[ColumnElement[Any]]:
        """The columns of the key, with stored values, for the rows of a page."""
        pairs = zip(self._columns, self.names, strict=True)
        return [column.label(name) for column, name in pairs]

    def page(self, rows: Select[Any], *, is_first: bool) -> Select[Any]:
        """The statement of the first page, or of a page after a key, with the parameters of
        ``page_of`` and ``key_values``."""
        if not is_first:
            key = (bindparam(name, type_=_AS_STORED) for name in self.names)
            rows = rows.where(tuple_(*self._columns) > tuple_(*key))
        return page_of(rows.order_by(*self._columns))


def key_values(key: Key) -> dict[str, Any]:
    """The parameters for the page after a key."""
    return {f"key_{number}": value for number, value in enumerate(key)}
