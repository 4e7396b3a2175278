"""Warnings of valid boundaries."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from app.geometry import Problem, read_boundary
from app.geometry.countries import has_world, load_world, location
from app.geometry.problems import MAX_PROBLEMS
from app.geometry.timed import processor_seconds
from app.geometry.warnings import boundary_warnings, indices_by_warning
from app.values.processor_clock import ProcessorClock, running
from tests.countries import needs_countries
from tests.geometry.drawing import placed
from tests.geometry.expensive_shapes import comb, slivers
from tests.make.geometry import multi_square, square
from tests.processor_time import is_within

METER = 1 / 111_320  # of latitude, in degrees


def warnings(*rings: list[Any]) -> list[Problem]:
    return boundary_warnings(read_boundary({"type": "Polygon", "coordinates": list(rings)}))


def of_parts(*parts: Any) -> list[Problem]:
    geometry = {"type": "MultiPolygon", "coordinates": [each["coordinates"] for each in parts]}
    return boundary_warnings(read_boundary(geometry))


def codes(found: list[Problem]) -> list[str]:
    return [each.code for each in found]


def places(found: list[Problem]) -> list[tuple[int | None, int | None, int | None]]:
    return [(each.part, each.ring, each.position) for each in found]


def rectangle(west: float, south: float, wide: float, high: float) -> dict[str, Any]:
    ring = [[west, south], [west + wide, south], [west + wide, south + high], [west, south + high]]
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def test_a_plain_square_has_none() -> None:
    assert boundary_warnings(read_boundary(square())) == []


def test_a_slit_is_a_spike() -> None:
    ring = [[10, 50], [11, 50], [11, 50.5], [10.2, 50.5], [11, 50.5000001], [11, 51], [10, 51]]
    found = warnings([*ring, ring[0]])
    assert codes(found) == ["spike"]
    assert places(found) == [(None, 0, 3)]
    assert found[0].coordinates == [10.2, 50.5]


def test_a_spike_at_the_start_of_a_hole() -> None:
    hole = [[10.01, 50.05], [10.05, 50.0501], [10.09, 50.08], [10.05, 50.0502], [10.01, 50.05]]
    found = warnings(square()["coordinates"][0], hole)
    assert (None, 1, 0) in places(found)
    assert set(codes(found)) == {"spike"}


def test_how_sharp_and_how_long_a_spike_is() -> None:
    """At 60° N, where a degree of longitude is half as long: its sides go north."""
    for degrees, meters, is_spike in (
        (0.9, 100, True),
        (1.1, 100, False),
        (0.9, 11, True),
        (0.9, 9, False),
    ):
        length = meters * METER
        wide = 2 * length * math.tan(math.radians(degrees / 2)) / math.cos(math.radians(60))
        tip = [10 + wide / 2, 60 + length]
        ring = [[10, 60], [10, 59.9], [10.1, 59.9], [10 + wide, 60], tip, [10, 60]]
        assert ("spike" in codes(warnings(ring))) is is_spike, degrees


def test_repeated_positions() -> None:
    a, b, c, d = [10, 50], [10.1, 50], [10.1, 50.1], [10, 50.1]
    found = warnings([a, b, b, b, c, d, a, a])
    assert codes(found) == ["repeated_position"] * 2
    assert places(found) == [(None, 0, 2), (None, 0, 7)]
    assert "3 times in a row" in found[0].message
    assert "twice in a row" in found[1].message


def test_neighboring_rings_repeat_nothing() -> None:
    """The second part begins where the first one ends."""
    assert of_parts(square(10, 50), square(9.9, 49.9)) == []
    ring = [[10, 50], [10, 49.9], [9.9, 49.9], [9.9, 50], [10, 50]]
    assert of_parts(square(10, 50), {"coordinates": [ring]}) == []


def test_a_part_narrower_than_a_meter_is_a_sliver() -> None:
    cases: list[tuple[float, bool]] = [(0.9, True), (1.1, False)]
    for meters, is_sliver in cases:
        strip = rectangle(11, 50, 0.01, meters * METER)
        found = of_parts(square(10, 50), strip)
        assert codes(found) == ["sliver"] * is_sliver, meters
        assert places(found) == [(1, 0, None)] * is_sliver, meters


def test_holes_can_leave_a_sliver() -> None:
    hole = rectangle(10 + METER / 2, 50 + METER / 2, 0.1 - METER, 0.1 - METER)["coordinates"][0]
    assert codes(warnings(square()["coordinates"][0], hole)) == ["sliver"]


@needs_countries
def test_parts_in_the_sea() -> None:
    found = of_parts(square(10, 50), square(-30, 0), square(-30, 10))
    assert codes(found) == ["in_the_sea"] * 2
    assert places(found) == [(1, 0, None), (2, 0, None)]
    assert codes(boundary_warnings(read_boundary(square(-30, 0)))) == ["in_the_sea"]


@needs_countries
def test_a_coast_is_not_in_the_sea() -> None:
    """Of Portugal, at some 8.85° W; a degree is 85 km there."""
    cases: list[tuple[float, bool]] = [(-9.1, False), (-9.3, True)]
    for west, is_far in cases:
        assert codes(boundary_warnings(read_boundary(square(west, 40.5, 0.01)))) == (
            ["in_the_sea"] * is_far
        ), west


@needs_countries
def test_a_part_in_another_country() -> None:
    found = of_parts(square(10, 50), square(10.2, 50), square(2.5, 47, 0.001))
    assert codes(found) == ["several_countries"]
    assert places(found) == [(2, 0, None)]
    assert "FR" in found[0].message
    assert "DE" in found[0].message
    ring = [[2, 47], [3, 47], [3, 47.0001], [2.0001, 47.0001], [2.0001, 48], [2, 48], [2, 47]]
    assert places(of_parts(square(10, 50), {"coordinates": [ring]})) == [(1, 0, None)]


@needs_countries
def test_a_hundredth_of_the_area_in_another_country() -> None:
    """At the Rhine, 7.75° E, from there east into Germany: within 10 km of the border is near."""
    for west, wide, is_told in (
        (7.5, 1.2, True),
        (7.65, 1.2, False),
        (7.75, 1.2, False),
    ):
        found = boundary_warnings(read_boundary(rectangle(west, 48.35, wide, 0.1)))
        assert codes(found) == ["several_countries"] * is_told, west


def test_the_first_of_each_code_come_first_and_100_at_most() -> None:
    strips = [rectangle(10 + n / 100, 50, 0.005, 0.5 * METER) for n in range(150)]
    a, b, c, d = [10, 51], [10.1, 51], [10.1, 51.1], [10, 51.1]
    found = of_parts(*strips, {"coordinates": [[a, b, b, c, d, a]]})
    assert codes(found)[:2] == ["repeated_position", "sliver"]
    assert Counter(codes(found)) == {"repeated_position": 1, "sliver": MAX_PROBLEMS - 1}


def test_of_many_boundaries_at_once_the_same_have_warnings() -> None:
    """Besides parts in the sea: there it is about whole boundaries."""
    spike = [[10, 50], [11, 50], [11, 50.5], [10.2, 50.5], [11, 50.5000001], [11, 51], [10, 51]]
    hole = [[10.01, 50.05], [10.05, 50.0501], [10.09, 50.08], [10.05, 50.0502], [10.01, 50.05]]
    repeated = [[10, 50], [10.1, 50], [10.1, 50], [10.1, 50.1], [10, 50]]
    geometries = [
        square(),
        {"type": "Polygon", "coordinates": [[*spike, spike[0]]]},
        {"type": "Polygon", "coordinates": [*square()["coordinates"], hole]},
        {"type": "Polygon", "coordinates": [repeated]},
        rectangle(10, 50, 0.01, 0.5 * METER),
        {
            "type": "MultiPolygon",
            "coordinates": [
                square(10, 50, 0.1)["coordinates"],
                rectangle(11, 50, 0.01, 0.5 * METER)["coordinates"],
            ],
        },
        rectangle(-30, 0, 0.1, 0.1),
        rectangle(7.3, 46.0, 0.4, 0.4),  # across a border, by a little
        rectangle(8.0, 47.0, 0.4, 3.0),
        rectangle(8.0, 47.0, 0.01, 0.01),
    ]
    boundaries = [read_boundary(each) for each in geometries]
    found = indices_by_warning(boundaries)
    for index, boundary in enumerate(boundaries):
        alone = {each.code for each in boundary_warnings(boundary)}
        assert {code for code, indices in found.items() if index in indices} == alone, index
    assert found["spike"] == {1, 2}
    if has_world():
        assert (found["in_the_sea"], found["several_countries"]) == ({6}, {8})


@needs_countries
@pytest.mark.slow
@pytest.mark.parametrize("shape", [comb, slivers])
@pytest.mark.parametrize(("lon", "lat", "degrees"), [(7.6, 47.6, 3), (10, 40, 80)])
def test_a_shape_that_takes_long_to_compare_with_countries_is_valid(
    shape: Any, lon: float, lat: float, degrees: float
) -> None:
    """Across borders, where it was made so that each point within it is costly to find."""
    geometry = placed(shape(98_000), lon, lat, degrees)
    load_world()
    began = processor_seconds()
    boundary = read_boundary(geometry)
    found = codes(boundary_warnings(boundary))
    assert is_within(processor_seconds() - began, 1.5)
    if shape is comb:
        assert "countries_not_checked" in found
        assert indices_by_warning([boundary])["countries_not_checked"] == {0}
    assert "several_countries" not in found


@needs_countries
def test_a_request_that_has_used_its_time_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small boundary is compared all the same."""
    clock = ProcessorClock()
    clock.add(1.3)
    with running(clock):
        small = read_boundary(rectangle(8.0, 47.0, 0.4, 3.0))
        assert codes(boundary_warnings(small)) == ["several_countries"]
        monkeypatch.setattr(location, "POSITIONS_HERE", 0)
        large = read_boundary(rectangle(8.0, 47.0, 0.4, 3.0))
        (warning,) = boundary_warnings(large)
    assert (small.country, large.country) == ("DE", False)
    assert warning.code == "countries_not_checked"
    assert warning.message.startswith("`coordinates` is so complex that it would take too long")
    assert indices_by_warning([large])["in_the_sea"] == set()


@needs_countries
def test_a_large_boundary_is_compared_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for geometry in (
        rectangle(8.0, 47.0, 0.4, 3.0),
        rectangle(-30, 0, 0.1, 0.1),
        multi_square((10, 50), (-30, 0), (2.5, 47), size=0.2),
    ):
        here = read_boundary(geometry)
        expected = boundary_warnings(here)
        with monkeypatch.context() as patch:
            patch.setattr(location, "POSITIONS_HERE", 0)
            elsewhere = read_boundary(geometry)
            assert elsewhere.country == here.country
            assert boundary_warnings(elsewhere) == expected
        assert expected
