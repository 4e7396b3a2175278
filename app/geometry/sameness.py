"""Comparing two boundaries position by position, with a tolerance for rounding."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import orjson

SAME_WITHIN: Final = 1e-7  # degrees, some 11 mm: what programs that write seven decimals round to
_ROUNDING: Final = 1.001  # of the subtraction itself


def is_same_boundary(first: str, second: str) -> bool:
    """True if every position of two boundaries agrees within ``SAME_WITHIN``.

    The positions are compared in their order; heights are not. A Polygon is the same as a
    MultiPolygon of one part.

    Args:
        first, second: the texts of two ``Boundary``.
    """
    if first == second:
        return True
    ours, theirs = _rings(first), _rings(second)
    shapes = [[len(ring) for ring in part] for part in ours]
    if shapes != [[len(ring) for ring in part] for part in theirs]:
        return False
    return all(
        _agree(ring, other)
        for part, others in zip(ours, theirs, strict=True)
        for ring, other in zip(part, others, strict=True)
    )


def _rings(text: str) -> list[Any]:
    value = orjson.loads(text)
    parts: list[Any] = value["coordinates"]
    return parts if value["type"] == "MultiPolygon" else [parts]


def _agree(ring: list[Any], other: list[Any]) -> bool:
    ours, theirs = (np.array([position[:2] for position in each]) for each in (ring, other))
    return bool(np.abs(ours - theirs).max() <= SAME_WITHIN * _ROUNDING)
