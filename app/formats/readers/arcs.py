"""Circular arcs as straight lines."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from app.formats.positions import Points

ARCS_NOTE: Final = (
    "Curves were made of straight lines, each over at most one degree of its arc. Areas differ by "
    "less than 0.1 %."
)
_Line: TypeAlias = npt.NDArray[np.complex128]  # x + iy of each position
_STEP: Final = np.pi / 180
_FEWEST_LINES: Final = 16  # in each half of an arc, so that a flat one keeps its area, too
_STRAIGHT: Final = 1e-9  # the distance of an arc from its chord, as a share of the chord


def straighten_arcs(positions: Points) -> Points:
    """The positions of a line along arcs. Each arc goes from one position over the next to the one
    after it. All of ``positions`` are kept.

    Args:
        positions: an odd number of them; else the last one is joined by a straight line.
    """
    line = positions[:, 0] + 1j * positions[:, 1]
    parts = [line[:1]]
    for first in range(0, len(line) - 2, 2):
        parts += _arc_positions(*line[first : first + 3])
    if len(line) % 2 == 0:
        parts.append(line[-1:])
    joined = np.concatenate(parts)
    return np.column_stack([joined.real, joined.imag])


def _arc_positions(start: complex, middle: complex, end: complex) -> list[_Line]:
    """The positions of an arc after its start. An arc that ends where it starts is a circle, and
    its middle is opposite."""
    a, b = middle - start, end - start
    area = 2 * (a.conjugate() * b).imag  # four times the triangle's; positive if the arc turns left
    if a and not b:
        center = (start + middle) / 2
    elif abs(area) <= _STRAIGHT * max(abs(a), abs(b)) ** 2:
        return [np.array([middle, end])]
    else:
        center = start + 1j * (a * abs(b) ** 2 - b * abs(a) ** 2) / area
    is_left = area > 0 or not b
    return [_half_arc(center, *half, is_left=is_left) for half in ((start, middle), (middle, end))]


def _half_arc(center: complex, start: complex, end: complex, *, is_left: bool) -> _Line:
    turn = float(np.angle((end - center) / (start - center))) % (2 * np.pi)
    turn = turn if is_left else turn - 2 * np.pi
    lines = max(_FEWEST_LINES, int(np.ceil(abs(turn) / _STEP)))
    turns = turn * np.arange(1, lines) / lines
    return np.append(center + (start - center) * np.exp(1j * turns), end)
