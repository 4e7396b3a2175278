"""Ending SQLite's statements while they run, for requests that take too long.

SQLite calls back after a number of steps of its virtual machine, a few for each row. It does not
inside a function, and comparing a long text with a long pattern takes milliseconds; so it calls
back the more often the longer the texts are that a statement compares with. For PostgreSQL its
connection does the same (``app.db.postgresql.connection``).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from app.values import processor_clock

STEPS: Final = 100_000  # some 3 ms
_TEXT_STEPS: Final = 80_000
"""Steps between two checks, times the characters of the patterns: a row takes ten steps or more,
and 31 µs for each of these characters at worst, with a text of 10,000 characters; so it is 0.25 s.
"""
_LEAST_STEPS: Final = 20
_COMPARES_TEXT: Final = re.compile(r"\b(?:GLOB|LIKE|instr|MATCH)\b", re.IGNORECASE)


class WatchedConnection(sqlite3.Connection):
    """A connection that ends the statements of requests that may not go on."""

    _steps = 0  # between two checks

    def check_every(self, steps: int = STEPS) -> None:
        """Set the number of steps between two checks."""
        if steps != self._steps:
            self._steps = steps
            self.set_progress_handler(_is_over, steps)


def compares_text(statement: str) -> bool:
    """Return whether a statement of SQLite has a function that can take long for one row."""
    return _COMPARES_TEXT.search(statement) is not None


def steps_for(values: Mapping[str, Any]) -> int:
    """Steps between two checks of a statement that compares texts.

    Args:
        values: its parameters.
    """
    characters = sum(len(value) for value in values.values() if isinstance(value, str))
    return min(STEPS, max(_LEAST_STEPS, _TEXT_STEPS // max(characters, 1)))


def _is_over() -> bool:
    clock = processor_clock.current()
    return clock is not None and not clock.may_go_on()
