"""What two boundaries have in common, and how they differ, in square meters."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from app.geometry import read_boundary, timed
from app.geometry.shapes import (
    UNKNOWN,
    AreaDifference,
    Shape,
    area_difference,
    common_area,
    shape_of,
    stored_shape,
)
from app.geometry.shapes import overlay as module
from app.geometry.timed import processor_seconds
from app.policy.request_limits import OVERLAY_SECONDS
from tests.geometry.drawing import box, multipolygon, polygon
from tests.geometry.expensive_shapes import Geometry, comb
from tests.make import multi_square, square
from tests.processor_time import is_within


def shape(geometry: Geometry) -> Shape:
    return shape_of(read_boundary(geometry).rings)


def area(geometry: Geometry) -> int:
    return read_boundary(geometry).area_m2


def blob(positions: int, seed: int = 1, **changed: float) -> Geometry:
    """A round shape with a rough outline; ``changed`` widens a few of its positions."""
    turns = np.linspace(0, 2 * np.pi, positions - 1, endpoint=False)
    random = np.random.default_rng(seed)
    reach = 0.3 + sum(
        0.02 / wave * np.cos(wave * turns + random.uniform(0, 6)) for wave in (1, 3, 7, 40)
    )
    reach[10:14] += changed.get("by", 0)
    ring = np.stack([10 + reach * np.cos(turns), 50 + reach * np.sin(turns)], axis=1).tolist()
    return polygon([*ring, ring[0]])


def test_a_strip_in_the_east_is_gained_and_one_in_the_west_lost() -> None:
    old, new = square(10, 50, 0.1), square(10.02, 50, 0.1)
    found = area_difference(shape(old), shape(new))
    strip = area(polygon(box(10.1, 50, 10.12, 50.1)))
    assert found.added_m2 == pytest.approx(strip, rel=1e-6)
    assert found.removed_m2 == pytest.approx(strip, rel=1e-6)


def test_a_hole_and_a_part_count() -> None:
    old = polygon(box(10, 50, 10.1, 50.1), box(10.04, 50.04, 10.05, 50.05))
    new = multipolygon([box(10, 50, 10.1, 50.1)], [box(11, 50, 11.01, 50.01)])
    hole, part = box(10.04, 50.04, 10.05, 50.05), box(11, 50, 11.01, 50.01)
    found = area_difference(shape(old), shape(new))
    assert found.added_m2 == pytest.approx(area(polygon(hole)) + area(polygon(part)), abs=2)
    assert found.removed_m2 == 0


@pytest.mark.parametrize("positions", [60, 2_000, 60_000])
def test_the_same_boundary_has_no_difference(positions: int) -> None:
    old = blob(positions)
    ring = old["coordinates"][0]
    begun_elsewhere = polygon([*ring[5:-1], *ring[:6]])
    for new in (old, begun_elsewhere, polygon(ring[::-1])):
        assert area_difference(shape(old), shape(new)) == AreaDifference(0, 0)


@pytest.mark.parametrize("by", [0.01, -0.01])
def test_of_a_large_boundary_only_what_has_changed_is_overlaid(
    by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = shape(blob(5_000)), shape(blob(5_000, by=by))
    found = area_difference(old, new)
    monkeypatch.setattr(module, "LARGE", 1_000_000)
    whole = area_difference(old, new, 60)
    assert found == whole
    assert (found.added_m2 or 0) > 10_000 if by > 0 else found.added_m2 == 0


@pytest.mark.slow
def test_a_small_change_of_the_largest_boundary_takes_a_moment() -> None:
    old, new = shape(blob(99_000)), shape(blob(99_000, by=0.001))
    assert area_difference(old, new, 0.1).added_m2
    whole = timed.differences(old.polygons, new.polygons, None, 0.1)
    assert whole is None, "it is not compared whole"


def test_both_sides_of_the_antimeridian() -> None:
    old = multipolygon([box(179, 0, 180, 1)], [box(-180, 0, -179, 1)])
    new = multipolygon([box(179, 0, 180, 1)], [box(-180, 0, -178.5, 1)])
    found = area_difference(shape(old), shape(new))
    assert found.added_m2 == pytest.approx(area(polygon(box(-179, 0, -178.5, 1))), rel=1e-3)
    assert found.removed_m2 == 0


def test_what_takes_too_long_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two combs across one another take ten seconds in one call."""
    teeth = comb(4_000)
    crossed = {"type": "Polygon", "coordinates": [[[y, x] for x, y in teeth["coordinates"][0]]]}
    one, other = shape(teeth), shape(crossed)
    for name in ("intersection", "difference"):
        monkeypatch.setattr(shapely, name, None)
    began = processor_seconds()
    assert area_difference(one, other) == UNKNOWN
    assert common_area(one, other) is None
    took = processor_seconds() - began
    assert took > OVERLAY_SECONDS
    assert is_within(took, 1)


def test_what_two_boundaries_have_in_common() -> None:
    one = shape(square(10, 50, 0.1))
    assert common_area(one, shape(square(10.1, 50, 0.1))) == 0, "an edge"
    assert common_area(one, shape(square(11, 50, 0.1))) == 0
    assert common_area(one, shape(square(10.02, 50.02, 0.01))) == pytest.approx(
        area(square(10.02, 50.02, 0.01)), abs=1
    )
    corner = polygon(box(10.09, 50.09, 10.1, 50.1))
    assert common_area(one, shape(square(10.09, 50.09, 0.1))) == pytest.approx(area(corner), abs=2)
    parts = shape(multi_square((10.05, 50.05), (12, 50), size=0.02))
    assert common_area(parts, one) == pytest.approx(area(square(10.05, 50.05, 0.02)), abs=2)


def test_the_text_of_a_boundary_gives_the_same_shape() -> None:
    for geometry in (
        square(),
        multi_square((1, 2), (3, 4)),
        polygon(box(0, 0, 9, 9), box(1, 1, 2, 2)),
    ):
        read = read_boundary(geometry)
        one, other = shape_of(read.rings), stored_shape(read.text)
        assert shapely.equals(one.polygons, other.polygons)
        assert one.rings.starts == other.rings.starts
