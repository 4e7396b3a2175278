"""A log: a table that grows by new rows, whose oldest are deleted, listed by id."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select

_YEARS: Final = (datetime(1970, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


class Log(NamedTuple):
    """What the statements of a log are built of.

    Args:
        kind: of the ids.
        key: the column of the ids.
        own: the parameters that say whose log it is.
        filters: a tuple of booleans that says which conditions a statement has, among them
            ``since``, ``until`` and ``lowest_id``. Its ``of`` makes it of the parameters.
        filtered: selects something of the rows for which the conditions hold. The parameters
            ``since_id`` and ``until_id`` are the ends of the time.
    """

    kind: str
    key: ColumnElement[Any]
    own: tuple[str, ...]
    filters: type[Any]
    filtered: Callable[[ColumnElement[Any], Any], Select[Any]]


def shifted(moment: datetime, by: timedelta = timedelta()) -> datetime:
    """A moment earlier or later, within the years that identifiers can have."""
    first, last = _YEARS
    return min(max(moment, first), last) + by
