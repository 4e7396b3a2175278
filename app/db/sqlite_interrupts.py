"""Interrupting SQLite's statements, for requests that take too long.

SQLite calls back after a number of steps of its virtual machine, a few for each row, but not within
a function, and comparing a long text with a long pattern takes milliseconds. So the longer the
patterns of a statement are, the more often it calls back. ``app.db.postgresql.connection`` does the
same for PostgreSQL.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from app.values import processor_clock

STEPS: Final = 100_000  # some 3 ms
# Steps between two checks, multiplied by the characters of the patterns: 0.25 s, as a row takes ten
# steps or more, and at worst, with a text of 10,000 characters, 31 µs for each of these characters.
_TEXT_STEPS: Final = 80_000
_LEAST_STEPS: Final = 20
_COMPARES_TEXT: Final = re.compile(r"\b(?:GLOB|LIKE|instr|MATCH)\b", re.IGNORECASE)


class WatchedConnection(sqlite3.Connection):
    """A connection that interrupts the statements of requests that may not go on."""

    _steps = 0  # between two checks

    def check_every(self, steps: int = STEPS) -> None:
        """Set the number of steps between two checks."""
        if steps != self._steps:
            self._steps = steps
            self.set_progress_handler(_must_interrupt, steps)


def compares_text(statement: str) -> bool:
    """True if a statement of SQLite has a function that can take long for one row."""
    return _COMPARES_TEXT.search(statement) is not None


def steps_for(values: Mapping[str, Any]) -> int:
    """Return the steps between two checks of a statement that compares texts, by its parameters."""
    characters = sum(len(value) for value in values.values() if isinstance(value, str))
    return min(STEPS, max(_LEAST_STEPS, _TEXT_STEPS // max(characters, 1)))


def _must_interrupt() -> bool:
    clock = processor_clock.current()
    return clock is not None and not clock.may_go_on()
