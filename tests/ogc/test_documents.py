"""What the service says of itself, as QGIS and GDAL read it."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

import pytest
from openapi_spec_validator import OpenAPIV30SpecValidator

from app.api import expensive
from app.ogc import columns
from app.policy.fields import PROJECT
from tests.make import Client, make_asset, make_key, make_project, multi_square, square
from tests.ogc.reading import CRS84, EPSG_3857, EPSG_4326, link, local

LANDING = ("service-desc", "conformance", "data", "self")
SPEC = "http://www.opengis.net/spec"


def get(client: Client, path: str) -> Any:
    response = client.get(path)
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.json


def test_the_landing_page_links_with_whole_urls(client: Client) -> None:
    for rel in LANDING:
        href = link(get(client, "/ogc"), rel)
        assert href is not None
        assert client.get(local(href)).status_code == 200


def test_the_api_is_valid_openapi(client: Client) -> None:
    response = client.get("/ogc/api")
    assert response.content_type == "application/vnd.oai.openapi+json;version=3.0"
    document = response.json
    assert document["openapi"] == "3.0.3"
    OpenAPIV30SpecValidator(document).validate()


def test_the_api_has_the_size_of_pages_where_qgis_looks(client: Client) -> None:
    limit = get(client, "/ogc/api")["components"]["parameters"]["limit"]
    assert (limit["schema"]["maximum"], limit["schema"]["default"]) == (10_000, 1_000)


def test_parameters_of_part_1_are_described_as_it_requires(client: Client) -> None:
    for name in ["limit", "bbox", "datetime"]:
        parameter = get(client, "/ogc/api")["components"]["parameters"][name]
        assert (parameter["style"], parameter["explode"]) == ("form", False)


def test_the_api_has_a_path_for_each_collection(client: Client) -> None:
    for collection in ["projects", "assets"]:
        document = get(client, "/ogc/api")
        own = document["paths"][f"/collections/{collection}/items"]["get"]["parameters"]
        assert {"status", "name", "updated_at"} <= {each.get("name") for each in own}
        assert {"put", "patch", "delete", "get"} <= set(
            document["paths"][f"/collections/{collection}/items/{{featureId}}"]
        )


def test_conformance_names_what_clients_ask_for(client: Client) -> None:
    for name in [
        "ogcapi-features-1/1.0/conf/core",
        "ogcapi-features-1/1.0/conf/geojson",
        "ogcapi-features-1/1.0/conf/oas30",
        "ogcapi-features-1/1.0/conf/html",
        "ogcapi-features-2/1.0/conf/crs",
        "ogcapi-features-3/1.0/conf/filter",
        "ogcapi-features-3/1.0/conf/features-filter",
        "ogcapi-features-4/1.0/conf/create-replace-delete",
        "ogcapi-features-4/1.0/conf/update",
        "ogcapi-features-5/1.0/conf/schemas",
        "cql2/1.0/conf/cql2-text",
        "cql2/1.0/conf/basic-cql2",
    ]:
        assert f"{SPEC}/{name}" in get(client, "/ogc/conformance")["conformsTo"]


def test_collections_offer_crs84_first(client: Client) -> None:
    for each in get(client, "/ogc/collections")["collections"]:
        assert each["crs"] == [CRS84, EPSG_3857, EPSG_4326]
        assert each["storageCrs"] == CRS84


def test_a_collection_links_its_features_schema_and_queryables(client: Client) -> None:
    found = get(client, "/ogc/collections/projects")
    rel = "http://www.opengis.net/def/rel/ogc/1.0"
    for name in ("items", "describedby", f"{rel}/schema", f"{rel}/queryables"):
        href = link(found, name)
        assert href is not None
        assert client.get(local(href)).status_code == 200


def test_a_collection_has_the_box_and_the_times_of_its_features(client: Client) -> None:
    project = make_project(client, geometry=square(10, 50, 1))
    last = make_project(client, geometry=square(20, 51, 1))
    extent = get(client, "/ogc/collections/projects")["extent"]
    assert extent["spatial"]["bbox"] == [[10, 50, 21, 52]]
    assert extent["temporal"]["interval"] == [[project["updated_at"], last["updated_at"]]]


def test_the_box_of_features_across_the_antimeridian_is_the_whole_circle(client: Client) -> None:
    make_project(client, geometry=multi_square((179, -17), (-180, -17), size=1))
    extent = get(client, "/ogc/collections/projects")["extent"]
    assert extent["spatial"]["bbox"] == [[-180, -17, 180, -16]]


def test_a_key_sees_the_collections_that_it_may_read(client: Client) -> None:
    key = make_key(client, permissions=["assets:read"])
    assert [each["id"] for each in get(key, "/ogc/collections")["collections"]] == ["assets"]
    assert "/collections/projects/items" not in get(key, "/ogc/api")["paths"]
    assert key.get("/ogc/collections/projects").status_code == 403


def test_the_schema_has_fields_and_keys_of_metadata_with_single_types(client: Client) -> None:
    make_project(client, metadata={"forest": "Umpqua", "stand": 7, "height": 1, "x": True})
    make_project(client, metadata={"height": 1.5, "x": "y", "name": "other", "none": None})
    described = get(client, "/ogc/collections/projects/schema")["properties"]
    assert described["id"]["x-ogc-role"] == "id"
    assert described["updated_at"] == {
        "type": "string", "format": "date-time", "readOnly": True, "x-ogc-propertySeq": ANY,
    }  # fmt: skip
    assert described["area_hectares"]["type"] == "number"
    assert described["geometry"] == {
        "x-ogc-role": "primary-geometry", "format": "geometry-multipolygon",
    }  # fmt: skip
    kinds = {name: each.get("type") for name, each in described.items() if name not in "geometry"}
    assert [kinds[name] for name in ("forest", "stand", "height", "x", "metadata_name")] == [
        "string", "integer", "number", "string", "string",
    ]  # fmt: skip
    assert "none" not in kinds
    places = [each["x-ogc-propertySeq"] for name, each in described.items() if name != "geometry"]
    assert places == list(range(1, len(places) + 1))


def test_queryables_are_the_fields_and_the_geometry(client: Client) -> None:
    make_project(client, metadata={"forest": "Umpqua"})
    found = get(client, "/ogc/collections/projects/queryables")
    assert set(found["properties"]) == {field.name for field in PROJECT} - {"metadata"}
    assert found["additionalProperties"] is False


def test_an_unknown_parameter_is_rejected(client: Client) -> None:
    for path in ["/ogc", "/ogc/conformance", "/ogc/collections/projects/schema"]:
        assert client.get(f"{path}?token=x").status_code == 400


def test_an_unknown_collection_is_not_there(client: Client) -> None:
    assert client.get("/ogc/collections/bees/items").status_code == 404


def test_a_schema_is_made_in_steps_between_which_it_can_be_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(client)["id"]
    for number in range(3):
        make_asset(client, project, metadata={f"key_{number}": [["x"]]})
    path = "/ogc/collections/assets/schema"
    monkeypatch.setattr(columns, "AT_ONCE", 20)
    assert get(client, path)["properties"]["key_1"]["type"] == "string"
    make_asset(client, project, metadata={"more": 1})
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.0)
    assert client.get(path).status_code == 400


def test_few_schemas_are_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "CACHE_SIZE", 1)
    for kind in ("projects", "assets"):
        get(client, f"/ogc/collections/{kind}/schema")
        assert [collection for _, collection, _ in columns._cache] == [kind]
