"""What becomes of a feature, without a database."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from app.formats.features import SourceFeature
from app.geometry.problems import whole_problem
from app.imports.features.candidates import Candidate, Choices, Rejected, prepare
from app.imports.features.geometries import IS_LINE
from app.imports.features.mapping import ColumnMapping
from tests.make import point, square
from tests.make.features import DISTRICTS, feature
from tests.names import NOT_NAMES
from tests.projects import equal_area

LINE_BREAK = re.compile(r"[\t\n\r\u2028]")  # which becomes a space
BY_NAME = Choices("projects", ColumnMapping({"name": "name"}))


def ignored(_: str) -> None:
    """Take a note."""


def prepared(
    number: int, value: dict[str, Any], choices: Choices = BY_NAME
) -> Candidate | Rejected:
    return prepare(SourceFeature(number, value["geometry"], value["properties"]), choices, ignored)


def test_a_feature_is_prepared() -> None:
    made = prepared(3, feature(square(), name="Alpine", forest="F"))
    assert isinstance(made, Candidate)
    assert (made.number, made.name) == (3, "Alpine")
    assert made.values == {"metadata_json": '{"forest":"F"}'}
    assert made.boundary is not None
    assert made.boundary.area_m2 > 0


def test_all_problems_of_a_feature_are_told() -> None:
    made = prepared(1, feature({"type": "Polygon", "coordinates": [[]]}, name=""))
    assert isinstance(made, Rejected)
    assert [problem.code for problem in made.problems] == ["no_name", "empty"]
    assert made.problems[0].field == "properties.name"


def test_a_feature_without_a_name_has_that_of_its_layer_and_its_number() -> None:
    for choices in (BY_NAME, replace(BY_NAME, mapping=ColumnMapping({}))):
        made = prepared(3, feature(square(), name=""), replace(choices, default_name="woods"))
        assert isinstance(made, Candidate)
        assert (made.name, made.is_numbered) == ("woods 3", True)
    named = prepared(3, feature(square(), name="0"), replace(BY_NAME, default_name="woods"))
    assert isinstance(named, Candidate)
    assert (named.name, named.is_numbered) == ("0", False)


def test_problems_of_the_reader_are_told_too() -> None:
    problem = whole_problem("wrong_position", "It has no coordinates.", "geometry")
    made = prepare(SourceFeature(1, None, {"name": "A"}, (problem,)), BY_NAME, ignored)
    assert isinstance(made, Rejected)
    assert made.problems == (problem,)


@pytest.mark.parametrize("name", [each for each in NOT_NAMES if not LINE_BREAK.search(each)])
def test_what_is_no_name(name: str) -> None:
    made = prepared(1, feature(square(), name=name))
    assert isinstance(made, Rejected)
    assert [problem.field for problem in made.problems] == ["properties.name"]
    assert made.problems[0].message.startswith("The name is not valid. Must ")


def test_control_characters_are_told_with_their_column() -> None:
    made = prepared(1, feature(square(), name="A", note="bell \a", other="x"))
    assert isinstance(made, Rejected)
    assert [problem.field for problem in made.problems] == ["properties.note"]
    assert made.problems[0].message.startswith("Has control characters")


def test_lines_of_a_cell_end_in_line_feeds() -> None:
    choices = replace(BY_NAME, mapping=ColumnMapping({"name": "name", "description": "text"}))
    cells = {"text": "one\r\ntwo", "two\r\nlines": "three\rfour"}
    made = prepared(1, feature(square(), name="A", **cells), choices)
    assert isinstance(made, Candidate)
    assert made.values["description"] == "one\ntwo"
    assert json.loads(made.values["metadata_json"]) == {"two\nlines": "three\nfour"}


@pytest.mark.parametrize("between", ["\r", "\n", " \r\n\t", "\v", "\u2028"])
def test_a_name_of_several_lines_is_one_line(between: str) -> None:
    made = prepared(1, feature(square(), name=f"Lake{between}Baikal"))
    assert isinstance(made, Candidate)
    assert made.name == "Lake Baikal"


def test_lines_are_closed_on_request_only() -> None:
    corners = [[0, 0], [1, 0], [1, 1]]
    line = SourceFeature(1, {"type": "LineString", "coordinates": corners}, {"name": "A"})
    refused = prepare(line, BY_NAME, ignored)
    assert isinstance(refused, Rejected)
    assert refused.problems[0].message == IS_LINE
    closed = prepare(line, replace(BY_NAME, close_lines=True), ignored)
    assert isinstance(closed, Candidate)
    assert closed.boundary is not None
    assert closed.boundary.positions == 4


def test_a_feature_that_was_exported_knows_its_project() -> None:
    project_id = "proj_01k9zq3mgse2j7tbyw5c4r8nhd"
    properties = {"name": "A", "id": project_id, "soil": "loam"}
    exported = replace(BY_NAME, ignored={"id"}, is_export=True)
    made = prepare(SourceFeature(1, None, properties), exported, ignored)
    assert isinstance(made, Candidate)
    assert (made.own_id, made.values) == (project_id, {"metadata_json": '{"soil":"loam"}'})


@pytest.mark.parametrize(
    ("columns", "metadata"),
    [
        ({"metadata_status": "felled", "metadata": None}, {"status": "felled"}),
        ({"metadata_metadata_id": 1, "metadata_note": 2}, {"metadata_id": 1, "metadata_note": 2}),
        ({"soil": "loam", "metadata": '{"a.b":[1]}'}, {"soil": "loam", "a.b": [1]}),
        ({"metadata": {"deep": 1}}, {"deep": 1}),
        ({"metadata": "no JSON"}, {"metadata": "no JSON"}),
        ({"metadata": "", "soil": None, "age": 0}, {"age": 0}),
    ],
)
def test_metadata_are_as_before_the_export(
    columns: dict[str, Any], metadata: dict[str, Any]
) -> None:
    exported = replace(BY_NAME, ignored={"id"}, is_export=True)
    made = prepare(SourceFeature(1, None, {"name": "A", **columns}), exported, ignored)
    assert isinstance(made, Candidate)
    assert json.loads(made.values["metadata_json"]) == metadata


def test_a_type_in_words_becomes_a_keyword() -> None:
    choices = Choices("assets", ColumnMapping({"name": "name", "type": "kind"}))
    made = prepared(1, feature(point(), name="A", kind="Weather Station"), choices)
    assert isinstance(made, Candidate)
    assert (made.values["type"], made.location is not None) == ("weather_station", True)


@pytest.mark.parametrize("name", ["Cottage Grove", "Iron River", "Jicarilla", "Sandia"])
def test_areas_of_districts_are_those_of_another_method(name: str) -> None:
    """Among them one with a hole (Iron River) and one of two parts (Jicarilla)."""
    source = json.loads(DISTRICTS.read_text())["features"]
    one = next(f for f in source if f["properties"]["district"].startswith(name))
    made = prepared(1, one, Choices("projects", ColumnMapping({"name": "district"})))
    assert isinstance(made, Candidate)
    assert made.boundary is not None
    computed = made.boundary.area_m2 / 10_000
    assert computed == pytest.approx(equal_area.hectares(one["geometry"]), rel=1e-6)
    official = one["properties"]["gis_acres"] * 0.40468564224
    assert computed == pytest.approx(official, rel=0.05)
