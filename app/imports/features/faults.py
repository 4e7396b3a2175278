"""The faults of a file's features, summed: how many features have each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from app.policy.imports import FAULTS

_NUMBERS: Final = re.compile(r"[+-]?[0-9][0-9.,]*")


class Faults:
    """Sums the problems of rejected features. Those with one code whose messages differ in numbers
    alone, such as places, are one fault."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the row of a feature."""
        keys = set()
        for problem in row["problems"]:
            key = problem["code"], _NUMBERS.sub("0", problem["message"])
            if key in keys or (key not in self._found and len(self._found) >= FAULTS):
                continue
            keys.add(key)
            fault = self._found.setdefault(
                key,
                {
                    "code": problem["code"],
                    "message": problem["message"],
                    "features": 0,
                    "first": row["number"],
                },
            )
            fault["features"] += 1

    def as_json(self) -> list[dict[str, Any]]:
        """The faults as the API shows them, the most frequent first."""
        return sorted(self._found.values(), key=lambda fault: -fault["features"])
