"""Circular arcs as straight lines."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.formats.positions import Points

ARCS_NOTE: Final = (
    "Curves were made of straight lines, each over at most one degree of its arc. Areas differ by "
    "less than 0.1 %."
)
_STEP: Final = np.pi / 180
_FEWEST_LINES: Final = 16  # in each half of an arc, so that a flat one keeps its area, too
_STRAIGHT: Final = 1e-9  # the distance of an arc from its chord, as a share of the chord


def straighten_arcs(positions: Points) -> Points:
    """The positions of a line along arcs. Each arc goes from one position over the next to the one
    after it. All of ``positions`` are kept.

    Args:
        positions: an odd number of them; else the last one is joined by a straight line.
    """
    parts = [positions[:1]]
    for first in range(0, len(positions) - 2, 2):
        parts.append(_arc_positions(*positions[first : first + 3]))
    if len(positions) % 2 == 0:
        parts.append(positions[-1:])
    return np.concatenate(parts)


def _arc_positions(start: Points, middle: Points, end: Points) -> Points:
    """The positions of an arc after its start. An arc that ends where it starts is a circle, and
    its middle is opposite."""
    is_circle = bool((start == end).all())
    center = _circle_center(start, middle, end) if not is_circle else (start + middle) / 2
    if center is None or (start == middle).all() or (middle == end).all():
        return np.array([middle, end])
    is_left = is_circle or _cross_product(middle - start, end - middle) > 0
    halves = (_half_arc(center, a, b, is_left=is_left) for a, b in ((start, middle), (middle, end)))
    return np.concatenate(list(halves))


def _circle_center(start: Points, middle: Points, end: Points) -> Points | None:
    """The center of the circle through three positions; None if they are on a straight line."""
    a, b = middle - start, end - start
    twice = 2 * _cross_product(a, b)
    longest = max(float(a @ a), float(b @ b))
    if abs(twice) <= _STRAIGHT * longest:
        return None
    x = b[1] * (a @ a) - a[1] * (b @ b)
    y = a[0] * (b @ b) - b[0] * (a @ a)
    return start + np.array([x, y]) / twice


def _half_arc(center: Points, start: Points, end: Points, *, is_left: bool) -> Points:
    a, b = start - center, end - center
    angle = float(np.arctan2(a[1], a[0]))
    turn = float((np.arctan2(b[1], b[0]) - angle) % (2 * np.pi))
    turn = turn if is_left else turn - 2 * np.pi
    lines = max(_FEWEST_LINES, int(np.ceil(abs(turn) / _STEP)))
    angles = angle + turn * np.arange(1, lines) / lines
    between = center + np.hypot(*a) * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([between, [end]])


def _cross_product(a: Points, b: Points) -> float:
    return float(a[0] * b[1] - a[1] * b[0])
