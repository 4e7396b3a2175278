"""Names of variables that are nearly those of settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MOST_WRONG: Final = 2  # letters
_LENGTH: Final = 7  # least letters of a setting for which a name of the environment may be meant

# What a file of settings may have for others: libpq, Compose, Python, the C library, proxies.
_OF_OTHERS: Final = re.compile(
    r"\A(?:PG[A-Z]+|POSTGRES_[A-Z_]+|DOMAIN|CANOPY_(COMMAND|SETTINGS|TAG)|REVISION|GUNICORN_CMD_ARGS"
    "|PYTHON[A-Z]+|MALLOC_[A-Z_]+|RES_OPTIONS|SSL_CERT_(FILE|DIR)|([A-Z]+_)?PROXY"
    "|TZ|LANG|LC_[A-Z]+|PATH|HOME|TMPDIR)",
    re.IGNORECASE,
)


def is_of_others(name: str) -> bool:
    """True if another program reads this variable."""
    return _OF_OTHERS.fullmatch(name) is not None


def find_nearest(name: str, settings: Iterable[str], *, is_surely_meant: bool) -> str | None:
    """Return the setting for which a name is meant that differs from it by two letters at most.

    Args:
        is_surely_meant: the name stands in a file of settings. Others are common names, so a
            setting must be long to be meant.
    """
    distances = {
        setting: _distance(name.upper(), setting)
        for setting in settings
        if (is_surely_meant or len(setting) >= _LENGTH)
        and abs(len(setting) - len(name)) <= _MOST_WRONG
    }
    nearest = min(distances, key=distances.__getitem__, default=None)
    return nearest if nearest and distances[nearest] <= _MOST_WRONG else None


def _distance(one: str, other: str) -> int:
    """Return the number of letters to insert, delete or replace to turn one text into another
    (Levenshtein)."""
    before = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        row = [number]
        for index, wanted in enumerate(other):
            row.append(min(before[index] + (letter != wanted), before[index + 1] + 1, row[-1] + 1))
        before = row
    return before[-1]
