"""Rings of integer positions, judged exactly, and the ways in which a program reads numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import shapely

READINGS: Final = ("written", "binary", "truncated", "rounded")

_ALL_PAIRS: Final = 150  # sides of a ring of which each pair is looked at

Micro = tuple[int, int]  # a position in 1e-6 degrees, or of ``written`` in a smaller unit


class Positions(NamedTuple):
    """Positions by their texts (longitude, latitude), and as doubles."""

    texts: list[tuple[str, str]]
    doubles: list[tuple[float, float]]


def readings_of(positions: Positions, names: Collection[str]) -> dict[str, list[Micro]]:
    """The positions in each of these readings."""
    made: dict[str, list[Micro]] = {}
    if "written" in names:
        digits = max(6, *(max(decimals(x), decimals(y)) for x, y in positions.texts))
        made["written"] = [(_cut(x, digits), _cut(y, digits)) for x, y in positions.texts]
    if "binary" in names:
        doubles = positions.doubles
        made["binary"] = [(math.trunc(x * 1e6), math.trunc(y * 1e6)) for x, y in doubles]
    if "truncated" in names:
        made["truncated"] = [(_cut(x, 6), _cut(y, 6)) for x, y in positions.texts]
    if "rounded" in names:
        made["rounded"] = [(_round(x), _round(y)) for x, y in positions.texts]
    return made


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


def distinct(read: dict[str, list[Micro]]) -> Iterator[tuple[list[Micro], tuple[str, ...]]]:
    """Yield the readings that differ, each with the names of those that are the same."""
    names: dict[tuple[Micro, ...], list[str]] = {}
    for name, positions in read.items():
        names.setdefault(tuple(positions), []).append(name)
    for positions, same in names.items():
        yield list(positions), tuple(same)


def ring_codes(positions: Sequence[Micro]) -> list[str]:
    """The codes of the faults of a ring, judged exactly.

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
    if len(corners) < 3:
        return [*codes, "straight_line"]
    is_small = all(abs(x) <= 180_000_000 and abs(y) <= 180_000_000 for x, y in corners)
    array = np.array(corners, dtype=np.int64 if is_small else object)
    if _is_straight(array):
        return [*codes, "straight_line"]
    return codes + _side_codes(array)


def _is_straight(corners: np.ndarray) -> bool:
    along, others = corners[1] - corners[0], corners[2:] - corners[0]
    return not np.any(along[0] * others[:, 1] - along[1] * others[:, 0] != 0)


def _side_codes(a: np.ndarray) -> list[str]:
    """The codes of pairs of sides; ``a`` are corners, (n, 2), no two in a row equal."""
    number = len(a)
    b = np.roll(a, -1, axis=0)
    low, high = np.minimum(a, b), np.maximum(a, b)
    first, second = _pairs(number) if number <= _ALL_PAIRS else _near_pairs(low, high)
    meet = np.all((low[first] <= high[second]) & (low[second] <= high[first]), axis=1)
    first, second = first[meet], second[meet]
    follow = second - first == 1
    close = (first == 0) & (second == number - 1)
    if _folds(a, b, np.arange(number)):
        return ["sides_overlap"]
    first, second = first[~(follow | close)], second[~(follow | close)]
    p, q, r, s = a[first], b[first], a[second], b[second]
    turns = [_turn(p, q, r), _turn(p, q, s), _turn(r, s, p), _turn(r, s, q)]
    codes = []
    opposite = (turns[0] * turns[1] < 0) & (turns[2] * turns[3] < 0)
    if np.any(opposite):
        codes.append("sides_cross")
    flat = (turns[0] == 0) & (turns[1] == 0)
    common = np.minimum(high[first], high[second]) - np.maximum(low[first], low[second])
    if np.any(flat & np.any(common > 0, axis=1)):
        codes.append("sides_overlap")
    ends = ((r, p, q), (s, p, q), (p, r, s), (q, r, s))
    touch = [
        (turn == 0) & _is_between(end, one, other)
        for turn, (end, one, other) in zip(turns, ends, strict=True)
    ]
    if not codes and any(np.any(each) for each in touch):
        codes.append("sides_touch")
    return codes


def _folds(a: np.ndarray, b: np.ndarray, sides: np.ndarray) -> bool:
    """True if a side goes back on the one before it."""
    before, after = b - a, np.roll(b - a, -1, axis=0)
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    ahead = before[:, 0] * after[:, 0] + before[:, 1] * after[:, 1]
    return bool(np.any((cross == 0) & (ahead < 0)))


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """-1, 0 or 1 for each: to which side of the line from a to b c lies."""
    cross = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    return (cross > 0).astype(np.int64) - (cross < 0).astype(np.int64)


def _is_between(point: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For points on the lines through a and b: whether they lie on the sides."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    return np.all((low <= point) & (point <= high), axis=1)


@cache
def _pairs(number: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(number, 1)


def _near_pairs(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of sides whose boxes meet, the lower index first; others may be among them."""
    lower = np.nextafter(low.astype(float), -np.inf)
    upper = np.nextafter(high.astype(float), np.inf)
    boxes = shapely.box(lower[:, 0], lower[:, 1], upper[:, 0], upper[:, 1])
    first, second = shapely.STRtree(boxes).query(boxes)
    return first[first < second], second[first < second]


def parts_codes(rings: Sequence[Sequence[Micro]]) -> list[str]:
    """The codes of pairs of parts. Their corners are small integers, with which GEOS is exact."""
    polygons = [shapely.Polygon(ring) for ring in rings]
    first, second = shapely.STRtree(polygons).query(polygons)
    codes = set()
    for one, other in zip(first, second, strict=True):
        if one < other:
            matrix = shapely.relate(polygons[one], polygons[other])
            if matrix[0] == "2":
                codes.add("parts_overlap")
            elif matrix[4] == "1":
                codes.add("parts_share_side")
    return sorted(codes)
