"""Maps that the server draws."""

from __future__ import annotations

import json
import re
from typing import Any

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
