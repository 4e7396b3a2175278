"""Areas against published reference values, and against what any area must obey.

References: the lune is an octant-like triangle from the equator to a pole, whose area on WGS84 is
510065621724088.5093 m² (the whole ellipsoid, Karney 2013) · λ/720; the others are results of
GeographicLib's Planimeter for the same positions.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.geometry import geodesic_area, read_boundary

Ring = list[list[float]]

EARTH_M2 = 510065621724088.5093

SQUARE_DEGREE: Ring = [[-2, 3], [-2, 4], [-1, 4], [-1, 3], [-2, 3]]
TRIANGLE: Ring = [[1, 2], [3, 4], [5, 2], [1, 2]]
NINE_DEGREES: Ring = [[1, 1], [10, 1], [10, 10], [1, 10], [1, 1]]
AT_ANTIMERIDIAN: Ring = [[-180, 60], [-180, 60.1], [-179.9, 60.1], [-179.9, 60], [-180, 60]]
WITH_HOLE_M2 = 944373881400.3394
TRIANGLE_M2 = 49187690467.58623


def lune(width: float, apex: float, pole: int = 90) -> Ring:
    return [[0, 0], [width, 0], [apex, pole], [0, 0]]


# Rings, area in m², tolerance in m². 1e-3 m² is the last digit of the references but one; lunes are
# that exact up to the 16 digits of a float.
REFERENCES = [
    *(
        ([lune(width, apex)], EARTH_M2 * width / 720, max(1e-3, 1e-15 * EARTH_M2))
        for width, apex in [
            (0.001, 0),
            (0.5, 0.5),
            (1, 0),
            (1, -120),
            (30, 15),
            (60, 180),
            (90, 0),
            (90, 45),
            (120, 60),
            (150, 75),
            (179, 90),
        ]
    ),
    ([lune(90, 45, -90)], EARTH_M2 / 8, 0.6),
    ([SQUARE_DEGREE], 12286884908.9469, 1e-3),
    ([TRIANGLE], TRIANGLE_M2, 1e-3),
    ([NINE_DEGREES, TRIANGLE], WITH_HOLE_M2, 1e-3),
    ([NINE_DEGREES, TRIANGLE[::-1]], WITH_HOLE_M2, 1e-3),
    ([NINE_DEGREES[::-1], TRIANGLE], WITH_HOLE_M2, 1e-3),
    ([NINE_DEGREES], WITH_HOLE_M2 + TRIANGLE_M2, 1e-3),
    ([AT_ANTIMERIDIAN], 62074670.43413544, 1e-4),
]


def test_reference() -> None:
    for rings, area, tolerance in REFERENCES:
        assert geodesic_area(rings) == pytest.approx(area, rel=0, abs=tolerance), rings
        boundary = read_boundary({"type": "Polygon", "coordinates": rings})
        assert boundary.area_m2 == pytest.approx(area, rel=0, abs=0.5 + tolerance), rings


def test_multipolygon_is_the_sum_of_its_parts() -> None:
    parts = [[SQUARE_DEGREE], [NINE_DEGREES, TRIANGLE]]
    sent = {"type": "MultiPolygon", "coordinates": parts}
    assert read_boundary(sent).area_m2 == round(12286884908.9469 + WITH_HOLE_M2)


@pytest.mark.parametrize("height", [0.5, 1e-7])
def test_area_is_whole_square_metres(height: float) -> None:
    ring: Ring = [[8, 48], [8.5, 48], [8.5, 48 + height], [8, 48]]
    boundary = read_boundary({"type": "Polygon", "coordinates": [ring]})
    assert type(boundary.area_m2) is int
    assert boundary.area_m2 == round(geodesic_area([ring]))


def test_a_side_along_a_pole_has_no_length() -> None:
    """Such as that of Antarctica in maps of longitude and latitude."""
    parallel = [[lon, -60] for lon in range(-180, 181, 10)]
    around = read_boundary(
        {
            "type": "Polygon",
            "coordinates": [[*parallel, [180, -90], [-180, -90], [-180, -60]]],
        }
    )
    assert around.area_m2 == pytest.approx(geodesic_area([[*parallel[:-1], parallel[0]]]), abs=1)
    assert around.bounds == (-180, -90, 180, -60)
    wedge: Ring = [[-100, 0], [0, 0], [100, 0], [100, 90], [-100, 90], [-100, 0]]
    made = read_boundary({"type": "Polygon", "coordinates": [wedge]})
    assert made.area_m2 == pytest.approx(geodesic_area([lune(100, 100)]) * 2, abs=1)


def test_edges_at_a_pole_may_span_half_the_circle() -> None:
    hemisphere = [[0, -90], [180, -90], [180, 90], [0, 90], [0, -90]]
    boundary = read_boundary({"type": "Polygon", "coordinates": [hemisphere]})
    assert boundary.area_m2 == pytest.approx(EARTH_M2 / 2, abs=1)


@st.composite
def stars(draw: st.DrawFn) -> tuple[list[float], Ring]:
    """Draw a centre and an open counter-clockwise ring that is star-shaped around it."""
    corners = draw(st.integers(4, 12))
    centre = [draw(st.floats(-170, 170)), draw(st.floats(-70, 70))]
    radii = st.lists(st.floats(0.5, 5), min_size=corners, max_size=corners)
    turns = [2 * math.pi * k / corners for k in range(corners)]
    return centre, [
        [centre[0] + radius * math.cos(turn), centre[1] + radius * math.sin(turn)]
        for turn, radius in zip(turns, draw(radii), strict=True)
    ]


def closed(ring: Ring) -> Ring:
    return [*ring, ring[0]]


@settings(deadline=None, max_examples=25)
@given(stars(), st.integers(0, 11))
def test_start_and_winding_play_no_role(star: tuple[list[float], Ring], turn: int) -> None:
    _, ring = star
    area = geodesic_area([closed(ring)])
    turned = ring[turn % len(ring) :] + ring[: turn % len(ring)]
    assert geodesic_area([closed(turned)]) == pytest.approx(area, rel=1e-9)
    assert geodesic_area([closed(ring)[::-1]]) == pytest.approx(area, rel=1e-9)


@settings(deadline=None, max_examples=25)
@given(stars(), st.integers(1, 3))
def test_two_pieces_add_up(star: tuple[list[float], Ring], cut: int) -> None:
    centre, ring = star
    pieces = [[[*ring[: cut + 1], centre, ring[0]]], [[*ring[cut:], ring[0], centre, ring[cut]]]]
    total = sum(map(geodesic_area, pieces))
    assert total == pytest.approx(geodesic_area([closed(ring)]), rel=1e-9)
    hole = [closed(ring), pieces[0][0]]
    assert geodesic_area(hole) == pytest.approx(geodesic_area(pieces[1]), rel=1e-8, abs=1)
