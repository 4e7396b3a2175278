"""The faults of a file's features, summed: how many features have each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from app.geometry.plain_words import plain_message
from app.policy.imports import FAULTS

_NUMBERS: Final = re.compile(r"[+-]?[0-9][0-9.,]*")


def without_numbers(message: str) -> str:
    """A message in which all numbers are the same."""
    return _NUMBERS.sub("0", message)


class Faults:
    """Sums the problems of rejected features, in plain words. Those with one code whose messages
    differ in numbers alone, such as places, are one fault."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the row of a feature."""
        keys = set()
        for problem in row["problems"]:
            message = plain_message(problem["code"], problem["message"])
            key = problem["code"], without_numbers(message)
            if key in keys or (key not in self._found and len(self._found) >= FAULTS):
                continue
            keys.add(key)
            fault = self._found.setdefault(
                key,
                {
                    "code": problem["code"],
                    "message": message,
                    "features": 0,
                    "first": row["number"],
                },
            )
            fault["features"] += 1

    def as_json(self) -> list[dict[str, Any]]:
        """The faults as the API shows them, the most frequent first."""
        return sorted(self._found.values(), key=lambda fault: -fault["features"])
