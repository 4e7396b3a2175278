"""Polygons cut in parts around their holes."""

from __future__ import annotations

import shapely

from app.geometry.holes import split_holes

# A chain of holes that touch, of which GEOS makes no triangles.
CHAIN = shapely.Polygon(
    [(46, 65), (77, 55), (70, 53), (69, 48), (68, 43), (70, 20), (15, 9), (46, 65)],
    [
        [(53, 34), (52, 29), (68, 43), (53, 34)],
        [(47, 37), (46, 32), (53, 34), (47, 37)],
        [(44, 22), (43, 17), (52, 29), (44, 22)],
    ],
)


def test_holes_that_touch_in_a_chain() -> None:
    parts = split_holes(CHAIN)
    assert parts is not None
    assert shapely.union_all(parts).equals(CHAIN)
    assert all(part.is_valid and not part.interiors for part in parts)
    assert sum(part.area for part in parts) == CHAIN.area
