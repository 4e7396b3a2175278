"""Pages that follow one another: each begins after the last row of the one before.

The place between two pages is the key of a row, so that no row is missing from the pages or in two
of them because others are written or deleted meanwhile, and no page costs more than the first one.
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
        names: of the columns of ``labeled``.
    """

    def __init__(self, *columns: ColumnElement[Any]) -> None:
        self._columns = [type_coerce(column, _AS_STORED) for column in columns]
        self.names = [f"key_{number}" for number in range(len(columns))]

    @property
    def labeled(self) -> list[ColumnElement[Any]]:
        """The columns of a key, as they are stored, for the rows of a page."""
        pairs = zip(self._columns, self.names, strict=True)
        return [column.label(name) for column, name in pairs]

    def page(self, rows: Select[Any], *, is_first: bool) -> Select[Any]:
        """The statement of the first page, or of one that follows a key. Its parameters are those
        of ``page_of`` and ``key_values``."""
        if not is_first:
            key = (bindparam(name, type_=_AS_STORED) for name in self.names)
            rows = rows.where(tuple_(*self._columns) > tuple_(*key))
        return page_of(rows.order_by(*self._columns))


def key_values(key: Key) -> dict[str, Any]:
    """The parameters for the page after a key."""
    return {f"key_{number}": value for number, value in enumerate(key)}
