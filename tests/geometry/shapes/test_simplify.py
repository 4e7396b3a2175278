"""Shapes for maps: near the boundary, of few positions, and closed."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
import shapely
from shapely.affinity import scale

from app.geometry import Bounds
from app.geometry.shapes import is_shown_whole, level_of, map_shape, pixels, point_shape
from app.geometry.shapes import map_shapes as shapes_of_many
from app.policy.request_limits import GEOMETRY_POSITIONS, MAP_SHORT_BYTES
from tests.make import multi_square, square
from tests.make.geometry import square_ring

LEVELS = (11, 8, 5)


def text_of(geometry: dict[str, Any]) -> str:
    return json.dumps(geometry, separators=(",", ":"))


def coast(positions: int, *, longitude: float = 8, latitude: float = 48, size: float = 1.0) -> str:
    """A ragged island."""
    rng = random.Random(positions)
    turns = [2 * math.pi * number / (positions - 1) for number in range(positions - 1)]
    reaches = [size * (1 + 0.2 * math.sin(5 * turn) + 0.01 * rng.random()) for turn in turns]
    ring = [
        [longitude + reach * math.cos(turn), latitude + reach * math.sin(turn)]
        for turn, reach in zip(turns, reaches, strict=True)
    ]
    return text_of({"type": "Polygon", "coordinates": [[*ring, ring[0]]]})


def rings_of(shape: str) -> list[list[list[float]]]:
    geometry = json.loads(shape)
    polygons = geometry["coordinates"]
    polygons = polygons if geometry["type"] == "MultiPolygon" else [polygons]
    return [ring for polygon in polygons for ring in polygon]


def map_shapes(text: str) -> dict[int, str]:
    """The shapes of one boundary."""
    (shapes,) = shapes_of_many([text])
    return shapes


def degrees(zoom: int) -> float:
    return 360 / 256 / 2**zoom


def test_a_shape_is_within_a_pixel_of_the_boundary() -> None:
    """Half a pixel for fewer positions, and less than half a one for their rounding."""
    for level in LEVELS:
        for latitude in (0, -70):
            text = coast(3_000, latitude=latitude, size=3)
            stretch = 1 / math.cos(math.radians(abs(latitude)))
            shape, boundary = (
                scale(shapely.from_geojson(each), yfact=stretch, origin=(0, 0))
                for each in (map_shapes(text)[level], text)
            )
            for one, other in ((shape, boundary), (boundary, shape)):
                positions = shapely.points(shapely.get_coordinates(one))
                assert shapely.distance(positions, other.exterior).max() < degrees(level)
            assert len(shape.exterior.coords) < 3_000, (level, latitude)


def test_rings_are_closed() -> None:
    for level in LEVELS:
        for ring in rings_of(map_shapes(coast(2_000))[level]):
            assert ring[0] == ring[-1]
            assert len(ring) >= 4


def test_coordinates_are_rounded_to_a_part_of_a_pixel() -> None:
    shapes = map_shapes(coast(2_000))
    for level, decimals in ((11, 4), (8, 3), (5, 2)):
        numbers = [number for ring in rings_of(shapes[level]) for place in ring for number in place]
        assert all(number == round(number, decimals) for number in numbers)


def test_a_boundary_of_less_than_two_pixels_has_no_shape() -> None:
    assert set(map_shapes(text_of(square(size=2.5 * degrees(8))))) == {11, 8}
    assert map_shapes(text_of(square(size=1.2 * degrees(11)))) == {}


def test_a_part_of_less_than_a_pixel_is_left_out() -> None:
    parts = multi_square((10, 50), (11, 50), size=0.5)
    parts["coordinates"].append([square_ring(12, 50, 0.1 * degrees(5))])
    assert len(rings_of(map_shapes(text_of(parts))[5])) == 2
    assert len(rings_of(map_shapes(text_of(parts))[11])) == 3


def test_a_hole_of_less_than_a_pixel_is_left_out() -> None:
    with_hole = square(size=1)
    with_hole["coordinates"].append(square_ring(10.5, 50.5, 0.2 * degrees(8))[::-1])
    assert [len(rings_of(map_shapes(text_of(with_hole))[level])) for level in (11, 8)] == [2, 1]


def test_a_strip_keeps_its_length() -> None:
    """Four positions, the fewest that a ring may have."""
    ring = [[10, 50], [12, 50], [12, 50.0001], [10, 50.0001], [10, 50]]
    shape = map_shapes(text_of({"type": "Polygon", "coordinates": [ring]}))[5]
    assert rings_of(shape) == [[[10, 50], [12, 50], [12, 50], [10, 50]]]


def test_many_small_parts_are_a_point() -> None:
    corners = [(10 + number / 10, 50.0) for number in range(11)]
    shape = map_shapes(text_of(multi_square(*corners, size=0.001)))[5]
    assert json.loads(shape) == {"type": "Point", "coordinates": [10.5, 50.0]}


def test_long_rings_are_simplified_in_runs() -> None:
    """What is straight stays so, but for where two runs meet."""
    side = [[10 + number / 1_000, 50.0] for number in range(1_000)]
    ring = [*side, [11, 50], [11, 51], [10, 51], [10, 50]]
    (shape,) = rings_of(map_shapes(text_of({"type": "Polygon", "coordinates": [ring]}))[5])
    assert 5 <= len(shape) < 10


def test_what_is_no_boundary_has_no_shapes() -> None:
    for text in (
        *("", "null", "[]", "{", '{"type":"Point"}', '{"type":"Polygon","coordinates":[]}'),
        *('{"type":"Polygon","coordinates":[[]]}', '{"type":"Polygon","coordinates":[[[1,2]]]}'),
        '{"type":"MultiPolygon","coordinates":[[[[1,2],[3,4]]],[[[5,6]]],[[]]]}',
    ):
        assert map_shapes(text) == {}, text
        assert shapes_of_many([text, text]) == [{}, {}], text
        assert map_shape(text, 5) is None, text


def test_what_is_no_boundary_leaves_others_theirs() -> None:
    texts = [coast(2_000), '{"type":"Polygon","coordinates":[]}', coast(50), "{"]
    texts += ['{"type":"Polygon","coordinates":[[[1,2]]]}', coast(300)]
    assert shapes_of_many(texts) == [map_shapes(text) for text in texts]


@pytest.mark.slow
def test_a_comb_takes_no_longer_than_the_largest_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a whole comb GEOS would need hours, and a deep stack. It gets short runs of it."""
    teeth = [[number * 1e-4, 1.0 + number % 2] for number in range(GEOMETRY_POSITIONS - 4)]
    ring = [*teeth, [teeth[-1][0], 0], [0, 0], teeth[0]]
    text = text_of({"type": "Polygon", "coordinates": [ring]})
    longest: list[int] = []
    simplify = shapely.simplify

    def counted(lines: Any, *arguments: Any, **options: Any) -> Any:
        longest.append(int(shapely.get_num_coordinates(lines).max()))
        return simplify(lines, *arguments, **options)

    monkeypatch.setattr(shapely, "simplify", counted)
    assert len(map_shapes(text)) == 4
    assert 0 < max(longest) <= 500


def test_the_level_of_a_zoom() -> None:
    for zoom, level in (
        (0, 5),
        (5, 5),
        (6, 8),
        (9, 11),
        (14, 14),
        (15, None),
        (22, None),
    ):
        assert level_of(zoom) == level, zoom


def test_what_is_shown_whole() -> None:
    assert is_shown_whole(10**7, None)
    assert is_shown_whole(MAP_SHORT_BYTES, 14)
    assert not is_shown_whole(MAP_SHORT_BYTES + 1, 14)
    assert not is_shown_whole(1, 11)


def test_pixels_of_a_box() -> None:
    for bounds, size in (
        (Bounds(-180, -85.0511287798066, 180, 85.0511287798066), 256),
        (Bounds(-180, -90, 180, 90), 256),
        (Bounds(0, 0, 1.40625, 0.1), 1),
        (Bounds(179, 0, 181.8125, 0), 2),
        (Bounds(0, 59.5, 0, 60.5), 1.4222),
    ):
        assert pixels(bounds, 0) == pytest.approx(size, abs=1e-3), bounds


def test_a_point_across_the_antimeridian() -> None:
    shape = json.loads(point_shape(Bounds(179, 10, 183, 12), 8))
    assert shape == {"type": "Point", "coordinates": [-179.0, 11.0]}
