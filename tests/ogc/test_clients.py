"""What QGIS, GDAL and others stumble over, as they ask: columns, empty layers, pages, times."""

from __future__ import annotations

from typing import Any

import pytest

from app.db.transactions import insert_rows, transaction
from app.models import Project
from app.values import clock
from app.values.ids import new_id
from tests.make import Client, make_asset, make_key, make_project, multi_square, second_app, square
from tests.ogc.reading import error, found, items, link, names

PROJECTS = "/ogc/collections/projects/items"
SCHEMA = "/ogc/collections/projects/schema"


def schema(client: Client) -> Any:
    return client.get(SCHEMA).json["properties"]


def put(client: Client, path: str, feature: dict[str, Any]) -> None:
    """Replace a feature, as a program that has read it."""
    sent = {name: feature[name] for name in ("type", "geometry", "properties")}
    response = client.put(path, json=sent)
    assert response.status_code == 200, response.json


@pytest.mark.both
def test_a_key_of_one_record_is_a_column_of_the_first_page(client: Client) -> None:
    """GDAL takes the columns of the first page, QGIS those of the schema."""
    for number in range(30):
        metadata = {"species": "oak"} if number == 15 else {"stand": number}
        make_project(client, metadata=metadata)
    page = found(items(client, limit=10))
    assert page[0]["properties"]["species"] is None
    assert page[0]["properties"]["stand"] == 0
    assert schema(client)["species"]["type"] == "string"
    project_id = page[3]["id"]
    client.put(f"/v1/projects/{project_id}", json={"metadata": {"risk": True}})
    assert schema(client)["risk"]["type"] == "boolean"
    first = found(items(client, limit=10))[0]["properties"]
    assert first.keys() >= {"species", "stand", "risk"}


def test_a_key_of_the_oldest_of_many_is_a_column(client: Client) -> None:
    make_project(client, name="Oldest", metadata={"species": "oak"})
    moment = clock.now()
    rows = [
        {
            "id": new_id("project"), "account_id": client.account_id, "name": "Later",
            "slug": f"later-{number}", "name_key": "later", "search_text": "later",
            "status": "active", "created_at": moment, "updated_at": moment,
            "metadata_json": '{"stand":7}',
        }
        for number in range(1_500)
    ]  # fmt: skip
    with client.app.app_context(), transaction():
        insert_rows(Project, rows)
    assert schema(client)["species"]["type"] == "string"
    assert schema(client)["stand"]["type"] == "integer"


def test_columns_of_others_are_not_shown(client: Client) -> None:
    own = make_project(client, metadata={"own": 1})["id"]
    make_project(client, metadata={"hidden": 1})
    limited = make_key(client, project_ids=[own], permissions=["projects:read"])
    assert "hidden" in schema(client)
    assert "hidden" not in schema(limited)
    assert "hidden" not in found(items(limited))[0]["properties"]


@pytest.mark.both
def test_objects_and_mixed_types_are_text(client: Client) -> None:
    kept: list[Any] = [{"b": 1}, "x", 3, [1, "y"], None, 2.5, True]
    made = [make_project(client, metadata={"a": value, "n": 1})["id"] for value in kept]
    described = schema(client)
    assert described["a"]["type"] == "string"
    assert described["n"]["type"] == "integer"
    features = found(items(client))
    shown = [feature["properties"]["a"] for feature in features]
    assert shown == ['{"b":1}', "x", "3", '[1,"y"]', None, "2.5", "true"]
    for project_id, feature, value in zip(made, features, kept, strict=True):
        put(client, f"{PROJECTS}/{project_id}", feature)
        metadata = client.get(f"/v1/projects/{project_id}").json["data"]["metadata"]
        assert metadata == {"n": 1} | ({} if value is None else {"a": value})


def test_an_object_that_is_changed_as_text_stays_one(client: Client) -> None:
    project_id = make_project(client, metadata={"a": {"b": 1}, "n": 3})["id"]
    path = f"{PROJECTS}/{project_id}"
    headers = {"Content-Type": "application/merge-patch+json"}
    for text, kept in (('{"b":2}', {"b": 2}), ("{b", "{b"), ('{"b":2}', '{"b":2}')):
        sent = {"properties": {"a": text}}
        assert client.send("PATCH", path, json=sent, headers=headers).status_code == 200
        metadata = client.get(f"/v1/projects/{project_id}").json["data"]["metadata"]
        assert metadata == {"a": kept, "n": 3}


def test_an_empty_layer_can_be_drawn_into(client: Client) -> None:
    """QGIS 3.44 has the type and the columns from the schema, and asks what it may change at the
    URL of a feature that is not there."""
    described = schema(client)
    geometry = {"x-ogc-role": "primary-geometry", "format": "geometry-multipolygon"}
    assert described["geometry"] == geometry
    assert {"id", "name", "status", "area_hectares"} <= described.keys()
    assert all("type" in each for name, each in described.items() if name != "geometry")
    assert "POST" in client.send("OPTIONS", PROJECTS).headers["Allow"]
    allowed = client.send("OPTIONS", f"{PROJECTS}/unknown_id").headers["Allow"]
    assert {"PUT", "PATCH", "DELETE"} <= set(allowed.split(", "))
    empty = {name: None for name in described if name != "geometry"}
    body = {"type": "Feature", "geometry": multi_square((10, 50))}
    made = client.post(PROJECTS, json=body | {"properties": empty | {"name": "First"}})
    assert made.status_code == 201
    assert names(client) == ["First"]


def test_a_key_of_some_projects_can_edit_them(client: Client) -> None:
    """QGIS edits a layer only if it can add features."""
    own = make_project(client, geometry=square())
    limited = make_key(client, project_ids=[own["id"]], permissions=["projects:write"])
    assert "POST" in limited.send("OPTIONS", PROJECTS).headers["Allow"]
    feature = found(items(limited))[0]
    feature["properties"]["description"] = "edited"
    put(limited, f"{PROJECTS}/{own['id']}", feature)
    sent = {"type": "Feature", "geometry": None, "properties": {"name": "New"}}
    assert "can change them, but add none" in error(limited.post(PROJECTS, json=sent), 403)
    reader = make_key(client, project_ids=[own["id"]], permissions=["projects:read"])
    assert "POST" not in reader.send("OPTIONS", PROJECTS).headers["Allow"]


def test_links_have_the_origin_that_the_client_used(client: Client) -> None:
    for _ in range(2):
        make_project(client)
    forwarded = {"X-Forwarded-Host": "forest.example:8443", "X-Forwarded-Proto": "https"}
    headers = {"Authorization": f"Bearer {client.token}"}
    for hops, origin in ((1, "https://forest.example:8443"), (0, "http://localhost")):
        with second_app(client.app, trusted_proxies=hops) as app:
            page = app.test_client().get(f"{PROJECTS}?limit=1", headers=headers | forwarded)
            assert link(page.json, "next").startswith(f"{origin}{PROJECTS}?")
            assert page.headers["Link"].startswith(f"<{origin}{PROJECTS}?")


def test_assets_have_all_columns_too(client: Client) -> None:
    project_id = make_project(client)["id"]
    make_asset(client, project_id, metadata={"serial": 7})
    make_asset(client, project_id, metadata={"serial": "W-7", "sensors": ["wind"]})
    first, second = found(items(client, "assets"))
    assert (first["properties"]["serial"], second["properties"]["serial"]) == ("7", "W-7")
    assert first["properties"]["sensors"] is None
    assert second["properties"]["sensors"] == '["wind"]'
