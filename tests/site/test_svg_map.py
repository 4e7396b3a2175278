"""Maps that the server draws."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from app.site.svg_map import Outline, draw_svg_map
from tests.make import multi_square, point, square


def outlines(*geometries: Any) -> list[Outline]:
    return [Outline(str(n), f"/{n}", json.dumps(each)) for n, each in enumerate(geometries)]


def corners(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+),([-\d.]+)", path)]


def test_nothing_has_no_map() -> None:
    assert draw_svg_map([]) is None


def test_north_is_at_the_top_and_east_at_the_right() -> None:
    made = draw_svg_map(outlines(square(10, 50), square(12, 52)))
    assert made is not None
    first, second = (corners(shape.path) for shape in made.shapes)
    assert max(x for x, _ in first) < min(x for x, _ in second)
    assert min(y for _, y in first) > max(y for _, y in second)
    for x, y in first + second:
        assert 0 <= x <= made.width
        assert 0 <= y <= made.height


def test_a_point_is_a_dot_in_the_middle() -> None:
    made = draw_svg_map(outlines(point(10, 50)))
    assert made is not None
    assert made.shapes[0].dot == (made.width / 2, made.height / 2)
    assert made.shapes[0].path == ""


def test_parts_on_both_sides_of_the_antimeridian_are_beside_each_other() -> None:
    made = draw_svg_map(outlines(multi_square((179, 0), (-180, 0), size=1)))
    assert made is not None
    found = corners(made.shapes[0].path)
    assert len(found) == 10
    assert max(x for x, _ in found) - min(x for x, _ in found) > made.width / 2


def test_positions_that_cannot_be_told_apart_are_left_out() -> None:
    ring = [[10, 50], *([10 + n / 1e7, 50] for n in range(1, 500)), [11, 50], [11, 51], [10, 50]]
    made = draw_svg_map(outlines({"type": "Polygon", "coordinates": [ring]}))
    assert made is not None
    assert len(corners(made.shapes[0].path)) < 8


def test_coordinates_and_a_scale_bar_are_where_they_say() -> None:
    made = draw_svg_map(outlines(square(10, 50, size=0.1)))
    assert made is not None
    assert made.place(10.05, 50.05) == (made.width / 2, made.height / 2)
    west, north = corners(made.shapes[0].path)[3]  # the ring begins in the south-west
    assert made.place(10, 50.1) == pytest.approx((west, north), abs=0.1)
    tops, sides = made.ticks()
    assert "10.05°\xa0E" in [text for _, text in tops]
    assert [at for at, text in sides if text == "50.06°\xa0N"] == [made.place(10, 50.06)[1]]
    pixels, words = made.scale_bar()
    assert words == "5 km"
    assert pixels == pytest.approx(5000 / 11119.5 * (made.height - 56), rel=0.01)
    for at, _ in tops:
        assert 0 < at < made.width


def test_coordinates_beyond_the_antimeridian_are_those_of_the_other_side() -> None:
    made = draw_svg_map(outlines(multi_square((179.99, -17), (-180, -17), size=0.01)))
    assert made is not None
    tops, sides = made.ticks()
    assert {"179.995°\xa0E", "180°", "179.995°\xa0W"} <= {text for _, text in tops}
    assert all(text.endswith("°\xa0S") for _, text in sides)
    assert made.place(-180, -17)[0] == made.place(180, -17)[0] == made.width / 2
    assert abs(made.middle[0]) == 180


def test_a_long_boundary_is_drawn_with_the_positions_that_can_be_seen() -> None:
    turns = [n / 20_000 * math.tau for n in range(20_000)]
    ring = [[10 + math.cos(turn) / 9, 50 + math.sin(turn) / 9] for turn in turns]
    geometry = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
    made = draw_svg_map(outlines(geometry))
    assert made is not None
    found = corners(made.shapes[0].path)
    assert 20 < len(found) < 500
    assert max(y for _, y in found) == pytest.approx(made.height - 28, abs=1)
