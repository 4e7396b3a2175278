"""The tiles of an area."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pmtiles.tile import zxy_to_tileid

from app.basemap.area import bounds_of, tile_ids, touched_tiles, widened
from app.geometry.bounding_boxes import WORLD, Bounds

ZOOM = 7
BOXES = {
    "one": [Bounds(22.9, 46.4, 23.1, 46.6)],
    "several that overlap": [Bounds(0, 0, 20, 10), Bounds(5, -5, 9, 30), Bounds(60, 10, 60, 10)],
    "across the antimeridian": [Bounds(178, -19, 182, -12), Bounds(-181, 50, -179, 52)],
    "around a pole": [widened(Bounds(10, 89.9, 12, 90), 50)],
    "the world": [WORLD],
}


def _one_by_one(boxes: list[Bounds]) -> set[int]:
    """The ids, by looking at each tile of each zoom."""
    found, rectangles = set(), touched_tiles(boxes, ZOOM)
    for z in range(ZOOM + 1):
        for x in range(2**z):
            for y in range(2**z):
                left, top = x << ZOOM - z, y << ZOOM - z
                last = (1 << ZOOM - z) - 1
                for box in rectangles:
                    is_apart = box.west > left + last or box.east < left
                    if not (is_apart or box.north > top + last or box.south < top):
                        found.add(zxy_to_tileid(z, x, y))
    return found


def test_their_ids_are_those_of_each_tile_that_a_box_touches(subtests: pytest.Subtests) -> None:
    for name, boxes in BOXES.items():
        with subtests.test(name):
            ranges = tile_ids(touched_tiles(boxes, ZOOM), ZOOM)
            assert {number for pair in ranges for number in range(*pair)} == _one_by_one(boxes)
            assert all(pair[1] < after[0] for pair, after in pairwise(ranges))
    assert len(tile_ids(touched_tiles([WORLD], 15), 15)) == 1


def test_tiles_by_their_place() -> None:
    (found,) = touched_tiles([Bounds(22.9, 46.4, 22.9, 46.4)], 14)
    assert found == (9234, 5802, 9234, 5802)
    around = bounds_of([found], 14)
    assert around.west < 22.9 < around.east < around.west + 0.03
    assert around.south < 46.4 < around.north < around.south + 0.03
    sides = sorted(touched_tiles([Bounds(179.9, 0, 180.1, 0)], 3))
    assert [(side.west, side.east) for side in sides] == [(0, 0), (7, 7)]
    assert bounds_of(sides, 3)[::2] == (-180, 180)


def test_a_margin_is_as_wide_as_it_is_high() -> None:
    box = widened(Bounds(23, 60, 23, 60), 10)
    assert [round(side, 3) for side in box] == [22.82, 59.91, 23.18, 60.09]
