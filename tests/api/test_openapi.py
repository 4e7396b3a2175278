"""The OpenAPI description: valid, complete, and true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from flask import Flask
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from app.api.openapi.document import api_description
from app.auth.guard import ANY_CREDENTIAL, OR
from app.policy.fields import PROJECT, filters_of
from app.policy.permissions import PERMISSIONS, PROFILE, SCOPES
from tests.api.operations import operations

METHODS = {"get", "post", "put", "patch", "delete"}


class Documented(NamedTuple):
    """One operation of the document."""

    name: str
    path: str
    method: str
    body: dict[str, Any]


@pytest.fixture(scope="module")
def document(app: Flask) -> dict[str, Any]:
    with app.app_context():
        return api_description()


def _operations(document: dict[str, Any]) -> Iterator[Documented]:
    for path, item in document["paths"].items():
        for method in METHODS & set(item):
            yield Documented(f"{method.upper()} {path}", path, method, item[method])


def _named(path: str) -> str:
    return path.replace("<", "{").replace(">", "}")


@pytest.mark.slow
def test_is_valid_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(document).validate()


def test_every_route_is_described_and_every_description_has_a_route(
    document: dict[str, Any],
) -> None:
    routes = {f"{operation.method} {_named(operation.rule)}" for operation in operations()}
    assert {each.name for each in _operations(document)} == routes


def test_operation_ids_are_unique_and_plain(document: dict[str, Any]) -> None:
    ids = [each.body["operationId"] for each in _operations(document)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z_]+", name) for name in ids)


def test_every_operation_names_its_permission(document: dict[str, Any]) -> None:
    needed = {f"{item.method} {_named(item.rule)}": item.needs for item in operations()}
    for each in _operations(document):
        needs = needed[each.name]
        assert each.body["x-permission"] == needs
        if needs in (ANY_CREDENTIAL, PROFILE):
            assert "any valid credential" in each.body["description"]
        else:
            assert PERMISSIONS.keys() >= set(needs.split(OR))
        if needs != ANY_CREDENTIAL:
            assert all(f"`{name}`" in each.body["description"] for name in needs.split(OR))


def test_there_are_three_ways_to_authenticate(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert set(schemes) == {"api_key", "service_token", "oauth"}
    for each in _operations(document):
        needs, needed = each.body["x-permission"], {}
        for choice in each.body["security"]:
            needed |= choice
        assert {"api_key": [], "service_token": []}.items() <= needed.items()
        scopes = {ANY_CREDENTIAL: []} | {name: [name] for name in SCOPES}
        assert needed.get("oauth") == scopes.get(needs.split(OR)[-1]), each.name


def test_every_operation_has_a_summary_and_a_tag(document: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in document["tags"]}
    for each in _operations(document):
        assert each.body["summary"].endswith(".")
        assert set(each.body["tags"]) <= tags


# The header that a client goes by, of the answers that have one.
HEADERS = {
    "201": "Location",
    "304": "ETag",
    "401": "WWW-Authenticate",
    "429": "Retry-After",
    "503": "Retry-After",
}


def test_answers_are_described_with_the_headers_that_clients_go_by(
    document: dict[str, Any],
) -> None:
    """Each answer of the tests is compared with what is described (``tests/contract.py``)."""
    components = document["components"]
    for each in _operations(document):
        for status, answer in each.body["responses"].items():
            found = components["responses"].get(answer.get("$ref", "").rpartition("/")[2], answer)
            schema = str(found.get("content")).rpartition("/schemas/")[2].split("'")[0]
            expected = {"X-Request-Id", HEADERS.get(status, "X-Request-Id")}
            if "data" in components["schemas"].get(schema, {}).get("properties", {}):
                expected |= {"ETag"}
            if schema.endswith("Page"):
                expected |= {"Link"}
            assert expected <= set(found["headers"]), f"{each.name} {status}"


def test_entity_tags_have_a_pattern(document: dict[str, Any]) -> None:
    for name in ("If-Match", "If-None-Match"):
        pattern = document["components"]["parameters"][name]["schema"]["pattern"]
        for tag in ("*", '"a1"', 'W/"a1"', '"a1", "b2"', '""'):
            assert re.search(pattern, tag), tag
        for other in ("", "a1", '"a1" "b2"', '"a1",', '*, "a1"'):
            assert not re.search(pattern, other), other


@pytest.mark.slow
def test_the_servers_address_is_the_readers(app: Flask) -> None:
    answer = app.test_client().get("/v1/openapi.json", base_url="https://canopy.forest.org")
    assert [each["url"] for each in answer.json["servers"]] == ["https://canopy.forest.org"]
    assert answer.json["info"]["contact"]["url"] == "https://canopy.forest.org/docs"


def test_only_the_verification_of_a_credential_says_that_one_is_invalid(
    document: dict[str, Any],
) -> None:
    refused = {each.name: each.body["responses"]["401"]["$ref"] for each in _operations(document)}
    odd = [name for name, answer in refused.items() if answer.endswith("/InvalidCredential")]
    assert odd == ["GET /v1/auth/verify"]
    assert "valid" not in document["components"]["schemas"]["Error"]["properties"]


def test_every_parameter_of_a_path_is_described(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for each in _operations({"paths": {path: item}}):
            named = {
                parameter["name"]
                for parameter in [*item.get("parameters", []), *each.body["parameters"]]
                if parameter.get("in") == "path"
            }
            assert named == set(re.findall(r"{(\w+)}", path))


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in set(_references(document)):
        found: Any = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        assert found


def test_every_component_is_used(document: dict[str, Any]) -> None:
    used = set(_references(document))
    for kind, components in document["components"].items():
        if kind != "securitySchemes":
            names = {f"#/components/{kind}/{name}" for name in components}
            assert names <= used, kind


def _schema_errors(document: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    whole = {"components": document["components"], **schema}
    return [error.message for error in Draft202012Validator(whole).iter_errors(value)]


def _contents(each: Documented) -> Iterator[dict[str, Any]]:
    yield from each.body.get("requestBody", {}).get("content", {}).values()
    for answer in each.body["responses"].values():
        yield from answer.get("content", {}).values()


def test_every_body_and_every_success_has_an_example_that_fits(document: dict[str, Any]) -> None:
    for each in _operations(document):
        for content in _contents(each):
            assert "example" in content, each.name
            errors = _schema_errors(document, content["schema"], content["example"])
            assert not errors, f"{each.name}: {errors}"


def test_refusals_have_examples_that_fit(document: dict[str, Any]) -> None:
    for answer in document["components"]["responses"].values():
        (content,) = answer["content"].values()
        assert not _schema_errors(document, content["schema"], content["example"])


RING = [[8, 48], [9, 48], [9, 49], [8, 48]]
POLYGON = {"type": "Polygon", "coordinates": [RING]}


@pytest.mark.parametrize(
    ("geometry", "fits"),
    [
        (None, True),
        (POLYGON, True),
        ({"type": "MultiPolygon", "coordinates": [[RING]]}, True),
        ({"type": "Polygon", "coordinates": [[[*position, 100] for position in RING]]}, True),
        ({"type": "Polygon", "coordinates": [RING[:3]]}, False),
        ({"type": "Polygon", "coordinates": [[[*position, 1, 1] for position in RING]]}, False),
        ({"type": "Polygon", "coordinates": [[["8", 48], *RING[1:]]]}, False),
        ({"type": "Polygon", "coordinates": [[RING]]}, False),
        ({"type": "Polygon"}, False),
        ({"type": "Point", "coordinates": [8, 48]}, False),
        ("POLYGON", False),
    ],
)
def test_a_boundary_is_described_as_geojson(
    document: dict[str, Any], geometry: Any, fits: bool
) -> None:
    for schema in ("Project", "ProjectCreate", "ProjectUpdate"):
        described = document["components"]["schemas"][schema]["properties"]["geometry"]
        assert (not _schema_errors(document, described, geometry)) is fits


@pytest.mark.parametrize(
    ("location", "fits"),
    [
        (None, True),
        ({"type": "Point", "coordinates": [8, 48]}, True),
        ({"type": "Point", "coordinates": [8, 48, 100]}, True),
        ({"type": "Point", "coordinates": [8, None]}, False),
        ({"type": "Point", "coordinates": [8]}, False),
        (POLYGON, False),
    ],
)
def test_a_location_is_described_as_a_point(
    document: dict[str, Any], location: Any, fits: bool
) -> None:
    for schema in ("Asset", "AssetCreate", "AssetUpdate"):
        described = document["components"]["schemas"][schema]["properties"]["location"]
        assert (not _schema_errors(document, described, location)) is fits


def test_query_parameters_are_described_with_their_bounds(document: dict[str, Any]) -> None:
    parameters = {
        each["name"]: each["schema"]
        for each in document["paths"]["/v1/projects"]["get"]["parameters"]
        if each.get("in") == "query"
    }
    others = ("page", "per_page", "search", "sort", "order", "bbox", "fields", "ids")
    assert set(parameters) == {*others, "metadata", "format", *filters_of(PROJECT)}
    assert all(
        each.get("description")
        for item in document["paths"].values()
        for operation in ("get", "put", "post", "patch", "delete")
        for each in [*item.get("parameters", []), *item.get(operation, {}).get("parameters", [])]
        if "$ref" not in each
    )
    assert parameters["per_page"] == {
        "type": "integer", "minimum": 1, "maximum": 100, "default": 20,
    }  # fmt: skip
    assert parameters["status"] == {"$ref": "#/components/schemas/ProjectStatus"}
    statuses = document["components"]["schemas"]["ProjectStatus"]
    assert statuses == {"type": "string", "enum": ["active", "archived", "draft"]}
    assert parameters["sort"]["enum"] == ["name", "created_at", "updated_at", "area_hectares"]
    assert parameters["order"]["enum"] == ["asc", "desc"]
    assert parameters["bbox"]["type"] == "string"
