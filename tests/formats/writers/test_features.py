"""Records as features: what is a property, and what it is called."""

from __future__ import annotations

import json

from app.formats.writers.features import ASSETS, PROJECTS
from app.policy.fields import ASSET, PROJECT
from app.values.strict_json import dumps
from tests.formats.writers.sources import asset, project
from tests.make.geometry import point, square


def test_properties_are_the_fields_and_then_the_metadata() -> None:
    record = project(geometry=square(), metadata={"region": 6, "species": ["oak"]})
    feature = json.loads(dumps(PROJECTS.feature(record).as_geojson()))
    names = [f.name for f in PROJECT if f.name not in ("geometry", "metadata")]
    assert list(feature) == ["type", "id", "geometry", "properties"]
    assert list(feature["properties"]) == [*names, "region", "species"]
    assert feature["id"] == feature["properties"]["id"] == record["id"]
    assert feature["geometry"] == square()
    assert feature["properties"]["species"] == ["oak"]


def test_an_asset_has_its_location_as_geometry() -> None:
    feature = json.loads(dumps(ASSETS.feature(asset(location=point())).as_geojson()))
    assert feature["geometry"] == point()
    assert set(feature["properties"]) == {f.name for f in ASSET} - {"location", "metadata"}


def test_of_some_fields() -> None:
    feature = PROJECTS.feature({"id": "proj_1", "name": "Wald"})
    assert feature.as_geojson() == {
        "type": "Feature",
        "id": "proj_1",
        "geometry": None,
        "properties": {"id": "proj_1", "name": "Wald"},
    }


def test_keys_that_are_called_like_fields_get_a_prefix() -> None:
    metadata = {"name": 1, "metadata": 2, "geometry": 3, "metadata_name": 4, "": 5, "id": 6}
    properties = PROJECTS.feature(project(metadata=metadata)).properties
    assert properties["name"] == "Forest 1"
    assert {name: value for name, value in properties.items() if isinstance(value, int)} == {
        "metadata_name": 1,
        "metadata_metadata": 2,
        "metadata_geometry": 3,
        "metadata_metadata_name": 4,
        "metadata_": 5,
        "metadata_id": 6,
    }
