"""Rings of integer positions, and the ways in which a program reads numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import shapely

Micro = tuple[int, int]  # a position in 1e-6 degrees, or of ``written`` in a smaller unit


class Positions(NamedTuple):
    """Positions by their texts (longitude, latitude), and as doubles."""

    texts: list[tuple[str, str]]
    doubles: list[tuple[float, float]]


def readings_of(positions: Positions) -> dict[str, list[Micro]]:
    """The positions in each reading."""
    texts, doubles = positions
    digits = max(6, *(max(decimals(x), decimals(y)) for x, y in texts))
    return {
        "written": [(_cut(x, digits), _cut(y, digits)) for x, y in texts],
        "binary": [(math.trunc(x * 1e6), math.trunc(y * 1e6)) for x, y in doubles],
        "truncated": [(_cut(x, 6), _cut(y, 6)) for x, y in texts],
        "rounded": [(_round(x), _round(y)) for x, y in texts],
    }


def decimals(text: str) -> int:
    """How many decimals a text without an exponent has."""
    return len(text.partition(".")[2])


def _cut(text: str, digits: int) -> int:
    """A decimal text, truncated after so many decimals, in units of the last one."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction[:digits].ljust(digits, "0"))


def _round(text: str) -> int:
    """A decimal text, rounded half away from zero to six decimals, in units of 1e-6."""
    is_up = text.partition(".")[2][6:7] >= "5"
    return _cut(text, 6) + (0 if not is_up else -1 if text.startswith("-") else 1)


def ring_codes(positions: Sequence[Micro]) -> list[str]:
    """The codes of the faults of a ring.

    Args:
        positions: (longitude, latitude) in integers of any unit, the last one as the first.
    """
    codes = []
    if len(positions) < 4:
        codes.append("few_positions")
    if positions[0] != positions[-1]:
        return [*codes, "open_ring"]
    corners = [here for here, after in itertools.pairwise(positions) if here != after]
    if len(corners) < len(positions) - 1:
        codes.append("equal_positions")
    if len(corners) < 3 or _are_straight(*corners):
        return [*codes, "straight_line"]
    return codes if shapely.is_valid(shapely.Polygon(corners)) else [*codes, "sides_meet"]


def _are_straight(first: Micro, second: Micro, *others: Micro) -> bool:
    x, y = second[0] - first[0], second[1] - first[1]
    return all(x * (each[1] - first[1]) == y * (each[0] - first[0]) for each in others)
