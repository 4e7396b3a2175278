"""Names, fields and attributes from the properties of features."""

from __future__ import annotations

import io
from typing import Any

import pytest

from app.policy.fields import Field
from app.projects.feature_text import (
    feature_attributes,
    feature_name,
    field_properties,
    guess_name_property,
)
from app.projects.geojson_file import FileScan, scan_file
from tests.make.features import collection, feature


def scanned(*properties: dict[str, Any]) -> FileScan:
    return scan_file(io.BytesIO(collection(*(feature(**one) for one in properties))))


@pytest.mark.parametrize(
    ("properties", "chosen"),
    [
        ([{"district": "A", "forest": "B"}], "district"),
        ([{"OBJECTID": 1, "NAME": "A"}], "NAME"),
        ([{"Title": "A", "name": "B"}], "name"),
        ([{"forest": "F", "DISTRICTNAME": "A"}], "DISTRICTNAME"),
        ([{"Nombre": "A"}], "Nombre"),
        ([{"Name_1": "A"}], "Name_1"),
        ([{"wdpa_name": "A", "area": 3}], "area"),
        ([{"wdpa_name": "A"}], "wdpa_name"),
        ([{"name": "", "label": "A"}], "label"),
        ([{"name": None, "label": "A"}, {"name": None, "label": "B"}], "label"),
        ([{"name": "A", "label": "x"}, {"label": "y"}, {"label": "z"}], "label"),
        ([{"name": "A", "label": "x"}, {"name": "B", "label": "y"}, {"label": "z"}], "name"),
        ([{"name": "map", "label": "x"}, {"name": "map", "label": "y"}], "label"),
        ([{"name": "same"}, {"name": "same"}], "name"),
        ([{"objectid": 3, "hue": "red"}], None),
        ([], None),
    ],
)
def test_the_property_with_the_names_is_guessed(
    properties: list[dict[str, Any]], chosen: str | None
) -> None:
    assert guess_name_property(scanned(*properties)) == chosen


@pytest.mark.parametrize(
    ("value", "name"),
    [(" A ", "A"), (12, "12"), (1.5, "1.5"), (None, ""), (True, ""), ([1], ""), ({}, "")],
)
def test_the_name_of_a_feature(value: Any, name: str) -> None:
    assert feature_name({"name": value}, "name") == name


def test_attributes_are_what_is_not_read_as_something_else() -> None:
    properties = {
        "name": "A", "gis_acres": 1017755.393, "region": "06", "open": True, "empty": "",
        "none": None, "tags": ["a", "b"], "count": 3,
    }  # fmt: skip
    attributes = feature_attributes(properties, {"name", "region"})
    assert attributes == {
        "gis_acres": 1017755.393, "open": True, "empty": "", "none": None, "tags": ["a", "b"],
        "count": 3,
    }  # fmt: skip
    assert feature_attributes(properties, {"name"}, ("region", "name")) == {"region": "06"}
    assert feature_attributes(properties, {"name"}, ()) == {}


def test_a_field_is_read_from_the_first_of_its_properties_that_is_filled_in() -> None:
    fields = (
        Field("region", "text", properties=("region", "area")),
        Field("owner", "text", properties=("owner",)),
        Field("title", "text", properties=("name",)),
    )
    properties = {"name": "A", "Region": "", "AREA": "North", "region": "South", "owner": None}
    assert field_properties(properties, "name", fields) == {"region": "AREA"}
