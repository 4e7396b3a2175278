"""What becomes of a feature, without a database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.projects.features import Candidate, Outcome, PropertyMapping, batches, prepare
from app.projects.importing import is_numbered, numbered
from app.values.text import slugify
from tests.make import multi_square, square
from tests.make.features import DISTRICTS, feature
from tests.projects import equal_area

BY_NAME = PropertyMapping("name")


def test_a_feature_is_prepared() -> None:
    made = prepare(3, feature(square(), name="Alpine", forest="F"), BY_NAME)
    assert isinstance(made, Candidate)
    assert (made.number, made.name) == (3, "Alpine")
    assert made.values == {"metadata_json": '{"forest":"F"}'}
    assert made.boundary is not None
    assert made.boundary.area_m2 > 0


def test_all_problems_of_a_feature_are_told() -> None:
    made = prepare(1, feature({"type": "Polygon", "coordinates": [[]]}, name=""), BY_NAME)
    assert isinstance(made, Outcome)
    assert [problem.code for problem in made.problems] == ["no_name", "empty"]
    assert made.problems[0].field == "properties.name"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "not_a_feature"),
        ([], "not_a_feature"),
        ({"type": "Polygon"}, "not_a_feature"),
        ({"type": "Feature", "properties": {"name": "A"}}, "missing_member"),
        ({"type": "Feature", "properties": None, "geometry": None}, "no_name"),
        ({"type": "Feature", "properties": {"name": "A"}, "geometry": 5}, "not_an_object"),
    ],
)
def test_what_is_no_feature_is_refused(value: Any, code: str) -> None:
    made = prepare(1, value, BY_NAME)
    assert isinstance(made, Outcome)
    assert (made.result, made.problems[0].code) == ("rejected", code)


def test_batches_are_short_in_features_and_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.projects.features.BATCH_FEATURES", 3)
    monkeypatch.setattr("app.projects.features.BATCH_BYTES", 700)
    small = prepare(1, feature(None, name="small"), BY_NAME)
    large = prepare(2, feature(multi_square((0, 0), (1, 1), (2, 2), (3, 3)), name="L"), BY_NAME)
    sizes = [len(batch) for batch in batches([small] * 4 + [large, large, small])]
    assert sizes == [3, 3, 1]


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        ("Riverside", 1, "Riverside"),
        ("Riverside", 2, "Riverside (2)"),
        ("n" * 70, 2, "(2) " + "n" * 70),
        ("n" * 200, 12, "(12) " + "n" * 195),
    ],
)
def test_a_name_with_a_number_has_a_slug_of_its_own(name: str, number: int, expected: str) -> None:
    assert numbered(name, number) == expected
    assert is_numbered(slugify(expected), name)
    assert number == 1 or slugify(expected) != slugify(name)


def test_the_slug_of_another_name_is_not_a_number_of_this_one() -> None:
    assert not is_numbered("riverside-east", "Riverside")
    assert not is_numbered("riverside-2-2", "Riverside")


@pytest.mark.parametrize("name", ["Cottage Grove", "Iron River", "Jicarilla", "Sandia"])
def test_areas_of_districts_are_those_of_another_method(name: str) -> None:
    """Among them one with a hole (Iron River) and one of two parts (Jicarilla)."""
    source = json.loads(DISTRICTS.read_text())["features"]
    one = next(f for f in source if f["properties"]["district"].startswith(name))
    made = prepare(1, one, PropertyMapping("district"))
    assert isinstance(made, Candidate)
    assert made.boundary is not None
    computed = made.boundary.area_m2 / 10_000
    assert computed == pytest.approx(equal_area.hectares(one["geometry"]), rel=1e-6)
    official = one["properties"]["gis_acres"] * 0.40468564224
    assert computed == pytest.approx(official, rel=0.05)
