"""Creating, replacing, changing and deleting features, as QGIS does it."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.make import (
    Client,
    event_types,
    events,
    make_asset,
    make_project,
    multi_square,
    point,
    square,
)
from tests.ogc.reading import error, local

PROJECTS = "/ogc/collections/projects/items"
ASSETS = "/ogc/collections/assets/items"
GEOJSON = {"Content-Type": "application/geo+json"}
PATCH = {"Content-Type": "application/merge-patch+json"}


def feature(geometry: Any = None, /, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def patch(client: Client, path: str, body: Any, **headers: str) -> TestResponse:
    return client.send("PATCH", path, json=body, headers=PATCH | headers)


def record(client: Client, project_id: str) -> Any:
    return client.get(f"/v1/projects/{project_id}").json["data"]


def test_a_new_feature_is_a_project(client: Client) -> None:
    body = feature(multi_square((10, 50)), name="By map", forest="Umpqua", external_id="E-1")
    response = client.post(PROJECTS, body, headers=GEOJSON)
    assert response.status_code == 201
    project = record(client, response.json["id"])
    assert response.headers["Location"].endswith(f"{PROJECTS}/{project['id']}")
    assert client.get(local(response.headers["Location"])).json == response.json
    assert (project["name"], project["external_id"]) == ("By map", "E-1")
    assert project["metadata"] == {"forest": "Umpqua"}
    assert project["geometry"] == square(10, 50)
    assert response.json["geometry"] == multi_square((10, 50))
    assert event_types(client) == ["project.created"]


def test_columns_that_are_empty_are_sent_as_null_and_are_nothing(client: Client) -> None:
    """QGIS sends all columns of the layer, also those that only the service sets."""
    empty = dict.fromkeys(
        ("id", "slug", "external_id", "description", "area_hectares", "status", "created_at",
         "updated_at", "forest", "metadata_name")
    )  # fmt: skip
    response = client.post(PROJECTS, feature(None, name="Empty", **empty), headers=GEOJSON)
    assert response.status_code == 201
    assert record(client, response.json["id"])["metadata"] is None


def test_a_new_asset_names_its_project(client: Client) -> None:
    project = make_project(client)["id"]
    own = {"project_id": project, "external_id": "E-1"}
    body = feature(point(10, 50), name="Post 1", type="post", serial=7, **own)
    response = client.post(ASSETS, body, headers=GEOJSON)
    assert response.status_code == 201
    asset = client.get(f"/v1/projects/{project}/assets/{response.json['id']}").json["data"]
    assert (asset["location"], asset["metadata"]) == (point(10, 50), {"serial": 7})
    assert asset["external_id"] == "E-1"
    assert event_types(client)[-1] == "asset.created"


def test_a_new_asset_of_no_project_of_the_account_is_rejected(
    client: Client, stranger: Client
) -> None:
    for known in [True, False]:
        other = make_project(stranger)["id"] if known else "proj_x"
        body = feature(None, name="Post", type="post", project_id=other)
        response = client.post(ASSETS, body, headers=GEOJSON)
        assert "properties.project_id: This project does not exist." in error(response, 422)
        body = feature(None, name="Post", type="post")
        assert "properties.project_id: Required." in error(client.post(ASSETS, body), 422)


def test_what_is_wrong_with_a_feature_is_said_by_its_place(client: Client) -> None:
    for body, message in [
        ({"type": "Feature", "properties": {"name": "A"}}, "geometry: Required; null for none."),
        ({"geometry": None, "properties": {}}, "type: Must be a GeoJSON Feature."),
        ({**feature(None, name="A"), "type": "Polygon"}, "type: Must be a GeoJSON Feature."),
        ({**feature(None, name="A"), "bees": 1}, "bees: A Feature has no such member."),
        (feature(None), "properties.name: Required."),
        (feature(None, name=5), "properties.name: Must be a string."),
        (feature(None, name="A", status="draft"), "properties.status: A new project is active."),
        (feature(None, name="A", metadata={}), "properties.metadata: Is no property."),
        (feature(None, name="A", geometry=1), "properties.geometry: Is no property."),
        (
            {
                **feature(None, name="A"),
                "crs": {"type": "name", "properties": {"name": "EPSG:3857"}},
            },
            "crs: Leave it out, and name another system than CRS84 in Content-Crs.",
        ),
        ({**feature(None), "properties": []}, "properties: Must be a JSON object."),
        (feature(square(10, 91), name="A"), "geometry.coordinates: "),
        (
            feature(None, name="A", **{f"k{n}": n for n in range(51)}),
            "properties: Must have at most",
        ),
        ([], "Must be a JSON object."),
    ]:
        assert message in error(client.post(PROJECTS, body, headers=GEOJSON), 422)


def test_other_bodies_are_refused(client: Client) -> None:
    xml = client.post(PROJECTS, data=b"<a/>", content_type="application/gml+xml")
    for media_type in ("application/json", "application/geo+json"):
        assert media_type in error(xml, 415)
    assert client.post(PROJECTS, data=b"{", content_type="application/geo+json").status_code == 400
    assert client.post(f"{PROJECTS}?crs=x", feature(None, name="A")).status_code == 400


@pytest.mark.both
def test_replacing_a_feature_clears_what_it_does_not_have(client: Client) -> None:
    project = make_project(
        client,
        geometry=square(10, 50),
        description="Old",
        external_id="E",
        metadata={"a": 1, "b": 2},
    )
    path = f"{PROJECTS}/{project['id']}"
    response = client.put(path, feature(square(11, 50), name="New", b=3), headers=GEOJSON)
    assert response.status_code == 200
    now = record(client, project["id"])
    assert (now["name"], now["description"], now["external_id"]) == ("New", None, None)
    assert (now["metadata"], now["geometry"], now["slug"]) == (
        {"b": 3}, square(11, 50), project["slug"],
    )  # fmt: skip
    assert now["status"] == "active"
    client.put(path, feature(None, name="New"), headers=GEOJSON)
    now = record(client, project["id"])
    assert (now["metadata"], now["geometry"]) == (None, None)


def test_what_was_read_can_replace_it_and_changes_nothing(client: Client) -> None:
    projects = [
        make_project(client, geometry=square(10, 50), metadata={"a": 1, "name": "x"}),
        make_project(client, geometry=multi_square((20, 50))),
        make_project(client, geometry=multi_square((20, 50), (21, 50))),
        make_project(client),
    ]
    asset = make_asset(client, projects[0]["id"], location=point(), metadata={"serial": 1})
    before = events(client)
    for collection, each in [*((PROJECTS, each) for each in projects), (ASSETS, asset)]:
        path = f"{collection}/{each['id']}"
        response = client.put(path, client.get(path).json, headers=GEOJSON)
        assert response.status_code == 200
        assert response.json["properties"]["updated_at"] == each["updated_at"]
    assert events(client) == before
    for each in projects:
        assert record(client, each["id"]) == each


def test_a_new_boundary_arrives_with_its_event(client: Client) -> None:
    """As QGIS saves an edit: only the geometry, as a merge patch."""
    project = make_project(client, geometry=square(10, 50), metadata={"a": 1})
    path = f"{PROJECTS}/{project['id']}"
    response = patch(client, path, {"geometry": multi_square((10, 50), size=0.2)})
    assert response.status_code == 200
    now = record(client, project["id"])
    assert now["geometry"] == square(10, 50, 0.2)
    assert now["metadata"] == {"a": 1}
    assert now["area_hectares"] > project["area_hectares"]
    event = events(client)[-1]
    assert event["type"] == "project.updated"
    assert event["data"]["changes"]["geometry"] == {"changed": True}


def test_the_history_of_a_boundary_names_the_map_program(client: Client) -> None:
    body = feature(multi_square((10, 50)), name="By map")
    project_id = client.post(PROJECTS, body, headers=GEOJSON).json["id"]
    patch(client, f"{PROJECTS}/{project_id}", feature(multi_square((11, 50))))
    history = client.get(f"/v1/projects/{project_id}/boundaries").json["data"]
    assert [entry["source"] for entry in history] == ["ogc", "ogc"]


@pytest.mark.both
def test_a_patch_changes_what_it_has(client: Client) -> None:
    project = make_project(
        client, description="Old", geometry=square(10, 50), metadata={"a": {"x": 1, "y": 2}, "b": 1}
    )
    path = f"{PROJECTS}/{project['id']}"
    body = {"properties": {"description": None, "status": "draft", "a": {"x": None}, "c": [1]}}
    assert patch(client, path, body).status_code == 200
    now = record(client, project["id"])
    assert (now["description"], now["status"], now["name"]) == (None, "draft", project["name"])
    assert now["metadata"] == {"a": {"y": 2}, "b": 1, "c": [1]}
    assert now["geometry"] == square(10, 50)
    assert patch(client, path, {"properties": {"a": None, "b": None, "c": None}}).status_code == 200
    assert record(client, project["id"])["metadata"] is None
    assert patch(client, path, {"geometry": None}).status_code == 200
    assert record(client, project["id"])["geometry"] is None


def test_a_wrong_patch_changes_nothing(client: Client) -> None:
    for body, message in [
        ({"properties": {"name": None}}, "properties.name: "),
        ({"properties": {"status": None}}, "properties.status: "),
        ({"properties": {"slug": "other"}}, "slug: The slug of a resource never changes."),
        ({"type": "Polygon"}, "type: Must be a GeoJSON Feature."),
        ({"properties": {f"k{n}": n for n in range(51)}}, "properties: Must have at most 50 keys."),
        ({"name": "x"}, "name: A Feature has no such member."),
    ]:
        project = make_project(client)
        assert message in error(patch(client, f"{PROJECTS}/{project['id']}", body), 422)
        assert record(client, project["id"]) == project


def test_an_asset_is_changed_and_stays_in_its_project(client: Client) -> None:
    projects = [make_project(client)["id"] for _ in range(2)]
    asset = make_asset(client, projects[0], location=point(10, 50), metadata={"a": 1})
    path = f"{ASSETS}/{asset['id']}"
    response = patch(client, path, {"geometry": point(11, 50), "properties": {"b": 2}})
    assert response.json["geometry"] == point(11, 50)
    assert response.json["properties"]["a"] == 1
    body = client.get(path).json
    body["properties"]["project_id"] = projects[1]
    response = client.put(path, body, headers=GEOJSON)
    assert "properties.project_id: The project of an asset never changes." in error(response, 422)
    assert event_types(client)[-1] == "asset.updated"
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.delete(path).status_code == 404
    assert event_types(client)[-1] == "asset.deleted"


def test_only_archived_projects_are_deleted(client: Client) -> None:
    project = make_project(client, geometry=square(10, 50))
    path = f"{PROJECTS}/{project['id']}"
    assert "Archive it first." in error(client.delete(path), 409)
    assert patch(client, path, {"properties": {"status": "archived"}}).status_code == 200
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert event_types(client)[-1] == "project.deleted"


def test_a_change_of_what_has_changed_since_is_refused(client: Client) -> None:
    project = make_project(client)
    asset = make_asset(client, project["id"])
    for path in (f"{PROJECTS}/{project['id']}", f"{ASSETS}/{asset['id']}"):
        read = client.get(path)
        first = {"If-Match": read.headers["ETag"]}
        assert patch(client, path, {"properties": {"a": 1}}, **first).status_code == 200
        for response in (
            patch(client, path, {"properties": {"a": 2}}, **first),
            client.put(path, read.json, headers=GEOJSON | first),
            client.delete(path, headers=first),
        ):
            assert response.status_code == 412
        now = {"If-Match": client.get(path).headers["ETag"]}
        assert patch(client, path, {"properties": {"a": 2}}, **now).status_code == 200


def test_the_tag_of_the_api_holds_here_too(client: Client) -> None:
    project = make_project(client)
    tag = client.get(f"/v1/projects/{project['id']}").headers["ETag"]
    response = patch(
        client, f"{PROJECTS}/{project['id']}", {"properties": {"a": 1}}, **{"If-Match": tag}
    )
    assert response.status_code == 200


def test_conflicts_name_the_other_project(client: Client) -> None:
    make_project(client, name="Twin", external_id="E-1")
    response = client.post(PROJECTS, feature(None, name="Twin"), headers=GEOJSON)
    assert "is taken by the project proj_" in error(response, 409)
    other = make_project(client)
    response = patch(client, f"{PROJECTS}/{other['id']}", {"properties": {"external_id": "E-1"}})
    assert "is taken by the project proj_" in error(response, 409)


def test_conflicts_name_the_other_asset(client: Client) -> None:
    project = make_project(client)["id"]
    first = make_asset(client, project, name="First", external_id="E-1")
    own = {"project_id": project, "external_id": "E-1"}
    response = client.post(ASSETS, feature(None, name="B", type="post", **own), headers=GEOJSON)
    assert f"is taken by the asset {first['id']} (First)" in error(response, 409)
    other = make_asset(client, project)
    body = {"properties": {"external_id": "E-1"}}
    response = patch(client, f"{ASSETS}/{other['id']}", body)
    assert f"is taken by the asset {first['id']} (First)" in error(response, 409)
    assert client.get(f"{ASSETS}/{other['id']}").json["properties"]["external_id"] is None
