"""Comparing two boundaries position by position, with a tolerance for rounding."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.geometry.rings import stored_rings

SAME_WITHIN: Final = 1e-7  # degrees, some 11 mm: what programs that write seven decimals round to
_ROUNDING: Final = 1.001  # the error of the subtraction itself
_EXTRA_BRACKETS: Final = 1  # a MultiPolygon of one part has one more than the Polygon


def is_same_boundary(first: str, second: str) -> bool:
    """True if every position of two boundaries agrees within ``SAME_WITHIN``.

    The positions are compared in their order; heights are not. A Polygon is the same as a
    MultiPolygon of one part.

    Args:
        first, second: the texts of two ``Boundary``.
    """
    if first == second:
        return True
    # A bracket begins each position, ring and part, and the whole: reading megabytes takes longer.
    if abs(first.count("[") - second.count("[")) > _EXTRA_BRACKETS:
        return False
    ours, theirs = stored_rings(first), stored_rings(second)
    if (ours.starts, ours.part_starts) != (theirs.starts, theirs.part_starts):
        return False
    differences = np.abs(ours.lon - theirs.lon), np.abs(ours.lat - theirs.lat)
    return bool(np.max(differences) <= SAME_WITHIN * _ROUNDING)
