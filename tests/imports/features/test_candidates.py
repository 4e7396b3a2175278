"""What becomes of a feature, without a database."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest

from app.formats.features import SourceFeature
from app.geometry.problems import whole_problem
from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature, check_feature
from app.imports.features.geometries import IS_LINE
from app.imports.features.mapping import ColumnMapping
from app.policy.imports import LATER_PROBLEMS, PROBLEMS, SHOWN_FEATURES
from app.values.text import has_control, line_problem
from tests.make import point, square
from tests.make.features import DISTRICTS, feature
from tests.names import NOT_NAMES
from tests.projects import equal_area

BY_NAME = ReadOptions("projects", ColumnMapping({"name": "name"}))


def ignored(_: str) -> None:
    """Take a note."""


def prepared(
    number: int, value: dict[str, Any], choices: ReadOptions = BY_NAME
) -> Candidate | RejectedFeature:
    return check_feature(
        SourceFeature(number, value["geometry"], value["properties"]), choices, ignored
    )


def test_a_feature_is_prepared() -> None:
    made = prepared(3, feature(square(), name="Alpine", forest="F"))
    assert isinstance(made, Candidate)
    assert (made.number, made.name) == (3, "Alpine")
    assert made.columns == {"metadata_json": '{"forest":"F"}'}
    assert made.boundary is not None
    assert made.boundary.area_m2 > 0


def test_all_problems_of_a_feature_are_told() -> None:
    mapping = ColumnMapping({"name": "name", "external_id": "external_id"})
    empty = feature({"type": "Polygon", "coordinates": [[]]}, name="", external_id="x" * 201)
    made = prepared(1, empty, replace(BY_NAME, mapping=mapping))
    assert isinstance(made, RejectedFeature)
    assert [problem.code for problem in made.problems] == ["not_valid", "empty"]
    assert made.problems[0].field == "properties.external_id"


def test_a_feature_without_a_name_has_that_of_its_layer_and_its_number() -> None:
    for choices in (BY_NAME, replace(BY_NAME, mapping=ColumnMapping({}))):
        made = prepared(3, feature(square(), name=""), replace(choices, default_name="woods"))
        assert isinstance(made, Candidate)
        assert (made.name, made.is_numbered) == ("woods 3", True)
    named = prepared(3, feature(square(), name="0"), replace(BY_NAME, default_name="woods"))
    assert isinstance(named, Candidate)
    assert (named.name, named.is_numbered) == ("0", False)


def test_so_many_places_of_a_fault_are_looked_for_as_are_stored() -> None:
    star = [[math.cos(2.5 * n), math.sin(2.5 * n)] for n in range(20)]
    crossed = feature({"type": "Polygon", "coordinates": [[*star, star[0]]]}, name="A")
    for number, stored in ((1, PROBLEMS), (SHOWN_FEATURES + 1, LATER_PROBLEMS)):
        made = prepared(number, crossed)
        assert isinstance(made, RejectedFeature)
        assert len(made.problems) == stored


def test_the_longest_value_of_too_much_metadata_is_named() -> None:
    made = prepared(1, feature(square(), name="A", note="x" * 16_384, species="Quercus robur"))
    assert isinstance(made, RejectedFeature)
    assert made.problems[0].message.endswith('the longest value is in "note".')


def test_problems_of_the_reader_are_told_too() -> None:
    problem = whole_problem("wrong_position", "It has no coordinates.", "geometry")
    made = check_feature(SourceFeature(1, None, {"name": "A"}, (problem,)), BY_NAME, ignored)
    assert isinstance(made, RejectedFeature)
    assert made.problems == (problem,)


def test_a_name_of_an_import_is_one_line_that_can_be_seen() -> None:
    for name in NOT_NAMES:
        made = prepared(7, feature(square(), name=name))
        assert isinstance(made, Candidate), name
        assert line_problem(made.name) is None, name
        letters = re.findall("[a-z2]", name)
        assert re.findall("[a-z2]", made.name) == (letters or list("eature")), name


def test_control_characters_of_a_name_are_left_out() -> None:
    for name, stored in (
        ("Rio\x07Grande", "Rio Grande"),
        ("Rio \x07 Grande", "Rio  Grande"),
        ("Amundsen\x96Scott", "Amundsen–Scott"),
        ("St. John\x92s\x81", "St. John’s"),
        ("\x00Wald \x00\x00", "Wald"),
        ("\x07\x07", "Feature 7"),
        ("\u200b\u3164", "Feature 7"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ):
        made = prepared(7, feature(square(), name=name))
        assert isinstance(made, Candidate), name
        assert (made.name, made.is_numbered) == (stored, stored == "Feature 7"), name
        assert made.cleaned == (("name",) if has_control(name) else ()), name


def test_control_characters_of_attributes_are_left_out() -> None:
    columns = {"note": "bell \a\tx\x00y", "de\x07ep": [{"a\ufffeb": "c\r\nd\x1b"}], "other": "\x07"}
    choices = replace(BY_NAME, ignored={"other"})
    made = prepared(1, feature(square(), name="A", **columns), choices)
    assert isinstance(made, Candidate)
    assert json.loads(made.columns["metadata_json"]) == {
        "note": "bell \tx y",
        "de ep": [{"a b": "c\nd"}],
    }
    assert made.cleaned == ("note", "de\x07ep")


def test_a_long_name_is_cut_and_kept_in_the_metadata() -> None:
    for metadata, others, is_kept in (
        (None, {}, True),
        (None, {"note": "x" * 16_200}, False),
        (None, {f"column {n}": n for n in range(50)}, False),
        ((), {}, False),  # as a person has chosen
    ):
        whole = "Old oaks " * 25
        choices = replace(BY_NAME, mapping=ColumnMapping({"name": "name"}, metadata))
        made = prepared(1, feature(square(), name=whole, **others), choices)
        assert isinstance(made, Candidate), metadata
        assert (made.name, made.is_cut, made.is_kept_whole) == (whole[:199] + "…", True, is_kept), (
            metadata
        )
        kept = others | ({"name": whole.strip()} if is_kept else {})
        assert json.loads(made.columns.get("metadata_json", "{}")) == kept, metadata


def test_a_name_of_two_hundred_characters_is_whole() -> None:
    made = prepared(1, feature(square(), name="n" * 200))
    assert isinstance(made, Candidate)
    assert (made.name, made.is_cut, made.columns) == ("n" * 200, False, {})


def test_lines_of_a_cell_end_in_line_feeds() -> None:
    choices = replace(BY_NAME, mapping=ColumnMapping({"name": "name", "description": "text"}))
    cells = {"text": "one\r\ntwo", "two\r\nlines": "three\rfour"}
    made = prepared(1, feature(square(), name="A", **cells), choices)
    assert isinstance(made, Candidate)
    assert made.columns["description"] == "one\ntwo"
    assert json.loads(made.columns["metadata_json"]) == {"two\nlines": "three\nfour"}


def test_a_name_of_several_lines_is_one_line() -> None:
    for between in ("\r", "\n", " \r\n\t", "\v", "\u2028"):
        made = prepared(1, feature(square(), name=f"Lake{between}Baikal"))
        assert isinstance(made, Candidate), between
        assert made.name == "Lake Baikal", between


def test_lines_are_closed_on_request_only() -> None:
    corners = [[0, 0], [1, 0], [1, 1]]
    line = SourceFeature(1, {"type": "LineString", "coordinates": corners}, {"name": "A"})
    refused = check_feature(line, BY_NAME, ignored)
    assert isinstance(refused, RejectedFeature)
    assert refused.problems[0].message == IS_LINE
    closed = check_feature(line, replace(BY_NAME, close_lines=True), ignored)
    assert isinstance(closed, Candidate)
    assert closed.boundary is not None
    assert closed.boundary.positions == 4


def test_a_feature_that_was_exported_knows_its_project() -> None:
    project_id = "proj_01k9zq3mgse2j7tbyw5c4r8nhd"
    properties = {"name": "A", "id": project_id, "soil": "loam"}
    exported = replace(BY_NAME, ignored={"id"}, is_export=True)
    made = check_feature(SourceFeature(1, None, properties), exported, ignored)
    assert isinstance(made, Candidate)
    assert (made.own_id, made.columns) == (project_id, {"metadata_json": '{"soil":"loam"}'})


def test_metadata_are_as_before_the_export() -> None:
    for columns, metadata in (
        ({"metadata_status": "felled", "metadata": None}, {"status": "felled"}),
        ({"metadata_metadata_id": 1, "metadata_note": 2}, {"metadata_id": 1, "metadata_note": 2}),
        ({"soil": "loam", "metadata": '{"a.b":[1]}'}, {"soil": "loam", "a.b": [1]}),
        ({"metadata": {"deep": 1}}, {"deep": 1}),
        ({"metadata": "no JSON"}, {"metadata": "no JSON"}),
        ({"metadata": "", "soil": None, "age": 0}, {"age": 0}),
    ):
        exported = replace(BY_NAME, ignored={"id"}, is_export=True)
        made = check_feature(SourceFeature(1, None, {"name": "A", **columns}), exported, ignored)
        assert isinstance(made, Candidate), columns
        assert json.loads(made.columns["metadata_json"]) == metadata, columns


def test_a_type_is_any_word_in_lower_case() -> None:
    choices = ReadOptions("assets", ColumnMapping({"name": "name", "type": "kind"}))
    for kind, stored in (
        ("Fire Tower", "fire tower"),
        ("bornă", "bornă"),
        ("Дуб", "дуб"),
    ):
        made = prepared(1, feature(point(), name="A", kind=kind), choices)
        assert isinstance(made, Candidate)
        assert (made.columns["type"], made.location is not None) == (stored, True)


def test_areas_of_districts_are_those_of_another_method() -> None:
    """Among them one with a hole (Iron River) and one of two parts (Jicarilla)."""
    for name in ("Cottage Grove", "Iron River", "Jicarilla", "Sandia"):
        source = json.loads(DISTRICTS.read_text())["features"]
        one = next(f for f in source if f["properties"]["district"].startswith(name))
        made = prepared(1, one, ReadOptions("projects", ColumnMapping({"name": "district"})))
        assert isinstance(made, Candidate), name
        assert made.boundary is not None, name
        computed = made.boundary.area_m2 / 10_000
        assert computed == pytest.approx(equal_area.hectares(one["geometry"]), rel=1e-6), name
        official = one["properties"]["gis_acres"] * 0.40468564224
        assert computed == pytest.approx(official, rel=0.05), name
