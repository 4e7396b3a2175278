"""A change of a row as it was reported, which may differ from what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from app.values.clock import format_time

TYPES: Final = ("INSERT", "UPDATE", "DELETE")

Columns = Mapping[str, Any]


class Change(NamedTuple):
    """What was reported. The records may lack columns, and hold anything."""

    type: str
    table: str
    record: Columns
    old_record: Columns

    @property
    def row_id(self) -> str:
        """The id of the row; empty when none was reported that is text."""
        first, second = self.record, self.old_record
        if self.type == "DELETE":
            first, second = second, first
        found = first.get("id", second.get("id"))
        return found if isinstance(found, str) else ""

    def may_count(self, counted: Sequence[str]) -> bool:
        """Whether the account's counters, which follow from the columns ``counted``, may have
        changed, as far as was reported."""
        known = all(name in self.record and name in self.old_record for name in counted)
        return not known or any(self.record[name] != self.old_record[name] for name in counted)


def texts(columns: Columns, *names: str, nullable: bool = False) -> dict[str, Any]:
    """Those of these columns that hold text, or null where ``nullable``."""
    return {
        name: columns[name]
        for name in names
        if isinstance(columns.get(name), str)
        or (nullable and name in columns and columns[name] is None)
    }


def times(columns: Columns, *names: str) -> dict[str, str]:
    """Those of these columns that hold a moment, as the service shows it."""
    found = {name: _moment(value) for name, value in texts(columns, *names).items()}
    return {name: format_time(moment) for name, moment in found.items() if moment is not None}


def _moment(text: str) -> datetime | None:
    try:
        return in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def in_utc(moment: datetime) -> datetime:
    """A moment as the service keeps it, to the millisecond; without a zone it is in UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.replace(microsecond=aware.microsecond // 1000 * 1000)
