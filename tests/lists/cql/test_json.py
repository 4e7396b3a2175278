"""CQL2 as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.geometry.shapes import CRS84
from app.lists.cql.json import parse_json
from app.lists.cql.nodes import FilterInvalid, Node
from app.lists.cql.text import parse_text
from tests.lists.cql.test_text import PROPERTIES

NAME = {"property": "name"}
EQUAL = {"op": "=", "args": [NAME, "a"]}


def parse(value: Any) -> Node:
    return parse_json(json.dumps(value), PROPERTIES, CRS84)


def test_json_says_the_same_as_text() -> None:
    for value, text in [
        (EQUAL, "name = 'a'"),
        ({"op": "and", "args": [EQUAL, {"op": "not", "args": [EQUAL]}]},
         "name = 'a' AND NOT name = 'a'"),
        ({"op": "or", "args": [EQUAL, True, False]}, "name = 'a' OR TRUE OR FALSE"),
        ({"op": "<", "args": [5, {"property": "area"}]}, "5 < area"),
        ({"op": "like", "args": [NAME, "a%"]}, "name LIKE 'a%'"),
        ({"op": "between", "args": [{"property": "area"}, 1, 2.5]}, "area BETWEEN 1 AND 2.5"),
        ({"op": "in", "args": [NAME, ["a", "b"]]}, "name IN ('a', 'b')"),
        ({"op": "isNull", "args": [NAME]}, "name IS NULL"),
        ({"op": ">", "args": [{"property": "at"}, {"timestamp": "2026-01-02T03:04:05Z"}]},
         "at > TIMESTAMP('2026-01-02T03:04:05Z')"),
        ({"op": "<", "args": [{"property": "at"}, {"date": "2026-01-02"}]},
         "at < DATE('2026-01-02')"),
        (True, "TRUE"),
    ]:  # fmt: skip
        assert parse(value) == parse_text(text, PROPERTIES, CRS84)


def test_what_is_wrong_is_said() -> None:
    for value, message in [
        ([], "an object with op and args"),
        ({"op": "="}, "an object with op and args"),
        ({"op": [], "args": []}, "The op '[]' is unknown"),
        ({"op": "casei", "args": [NAME]}, "The op 'casei' is unknown"),
        ({"op": "=", "args": [NAME]}, "= needs an array of 2 args"),
        ({"op": "and", "args": [EQUAL]}, "and needs an array of two or more args"),
        ({"op": "not", "args": {}}, "not needs an array of 1 args"),
        ({"op": "=", "args": [NAME, None]}, "compared with a text"),
        ({"op": "=", "args": [NAME, {"date": "2026-01-02"}]}, "compared with a text"),
        ({"op": "=", "args": [{"property": "at"}, {"date": ["2026"]}]}, "A DATE must be"),
        ({"op": "=", "args": [NAME, {"day": "2026-01-02"}]}, "An argument must be a value"),
        ({"op": "s_intersects", "args": [{"property": "geometry"}, {"geometries": [1]}]},
         "no geometry in WKT or GeoJSON"),
        ({"op": "=", "args": [{"op": "casei", "args": []}, "a"]}, "casei is not supported"),
        ({"op": "in", "args": [NAME, "a"]}, "must be an array"),
        ({"op": "in", "args": [NAME, []]}, "at least one value"),
        ({"op": "s_intersects", "args": [{"property": "geometry"}, {"bbox": ["1"]}]},
         "An argument must be a value"),
        ({"op": "s_intersects", "args": [{"property": "geometry"}, {"coordinates": [1, 2]}]},
         "no geometry in WKT or GeoJSON"),
        ({"op": "s_intersects",
          "args": [{"property": "geometry"}, {"type": "Point", "coordinates": []}]}, "is empty"),
        (1, "an object with op and args"),
    ]:  # fmt: skip
        with pytest.raises(FilterInvalid) as caught:
            parse(value)
        assert message in str(caught.value)


def test_what_is_no_json_is_said() -> None:
    for text, message in [
        ("{", "The filter is not valid JSON"),
        ('{"op":"=","op":"="}', "The filter repeats the name"),
        ("\ud800", "not valid JSON"),
        ("[" * 2_000, "The filter"),
        (" " * 8_001, "longer than 8,000"),
    ]:
        with pytest.raises(FilterInvalid) as caught:
            parse_json(text, PROPERTIES, CRS84)
        assert message in str(caught.value)


def test_a_filter_is_not_nested_deeply() -> None:
    value: Any = EQUAL
    for _ in range(20):
        value = {"op": "not", "args": [value]}
    with pytest.raises(FilterInvalid, match="nested more than 20"):
        parse(value)


_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.sampled_from(["a", "name", "="]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["op", "args", "property", "bbox", "type"]), inner)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(_values)
def test_any_json_is_read_or_refused(value: Any) -> None:
    try:
        parse(value)
    except FilterInvalid as error:
        assert str(error)  # noqa: PT017
