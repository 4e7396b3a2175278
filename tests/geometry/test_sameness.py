"""When two boundaries are the same but for rounding."""

from __future__ import annotations

import json
from typing import Any

from app.geometry import is_same_boundary, read_boundary
from tests.make import multi_square, square
from tests.make.features import DISTRICTS

RINGS = square(10.123456789, 50.987654321)


def text_of(geometry: Any) -> str:
    return read_boundary(geometry).text


def moved(geometry: Any, by: float) -> Any:
    """The geometry with its second position moved to the east."""
    copy = json.loads(json.dumps(geometry))
    copy["coordinates"][0][1][0] += by
    return copy


def rounded(value: Any) -> Any:
    """Numbers with seven decimals, as GDAL writes them."""
    if isinstance(value, float):
        return round(value, 7)
    return [rounded(each) for each in value] if isinstance(value, list) else value


def test_what_seven_decimals_round_to_is_the_same() -> None:
    for feature in json.loads(DISTRICTS.read_text())["features"][1:]:
        geometry = feature["geometry"]
        short = geometry | {"coordinates": rounded(geometry["coordinates"])}
        assert is_same_boundary(text_of(geometry), text_of(short))


def test_a_position_may_be_off_by_a_ten_millionth_of_a_degree() -> None:
    cases: list[tuple[float, bool]] = [(0.9e-7, True), (1e-7, True), (1.1e-7, False)]
    for by, same in cases:
        assert is_same_boundary(text_of(RINGS), text_of(moved(RINGS, by))) is same, by


def test_a_part_alone_is_the_same_in_both_types() -> None:
    part = {"type": "MultiPolygon", "coordinates": [RINGS["coordinates"]]}
    assert is_same_boundary(text_of(RINGS), text_of(part))


def test_heights_do_not_count() -> None:
    high = json.loads(json.dumps(RINGS))
    high["coordinates"][0] = [[*position, 812.5] for position in high["coordinates"][0]]
    assert is_same_boundary(text_of(RINGS), text_of(high))


def test_other_shapes_are_not_the_same() -> None:
    two = multi_square((0, 0), (1, 1))
    assert not is_same_boundary(text_of(two), text_of(multi_square((0, 0), (1, 1), (2, 2))))
    assert not is_same_boundary(text_of(two), text_of(multi_square((0, 0), (1, 2))))
    assert not is_same_boundary(text_of(square()), text_of(square(11)))
