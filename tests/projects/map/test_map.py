"""``GET /v1/projects/map``: which projects, as which shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.api import expensive
from app.api.expensive import TURNS
from app.policy.request_limits import MAP_SHORT_BYTES
from app.projects.map import shapes
from tests.audit.log.logs import sql
from tests.make import Client, make_project, multi_square, square
from tests.turns import turn_taken

PATH = "/v1/projects/map"
WORLD = "-180,-90,180,90"
Record = dict[str, Any]


def get_map(client: Client, query: str = "zoom=8") -> Record:
    response = client.get(f"{PATH}?{query}")
    assert response.status_code == 200, response.get_data(as_text=True)
    found: Record = json.loads(response.get_data())
    assert found["numberReturned"] == len(found["features"])
    return found


def ids(client: Client, query: str = "zoom=8") -> list[str]:
    return [feature["id"] for feature in get_map(client, query)["features"]]


def shape(client: Client, zoom: int) -> Record:
    (feature,) = get_map(client, f"zoom={zoom}")["features"]
    geometry: Record = feature["geometry"]
    return geometry


def long_boundary(positions: int = 3_000) -> Record:
    """A boundary that is too long to be shown whole."""
    side = [[10 + number / positions, 50 + number % 2 * 1e-5] for number in range(positions)]
    ring = [*side, [11, 50], [11, 51], [10, 51], side[0]]
    assert len(json.dumps(ring)) > MAP_SHORT_BYTES
    return {"type": "Polygon", "coordinates": [ring]}


@pytest.mark.both
def test_a_feature(client: Client) -> None:
    project = make_project(client, name="Upper Valley", geometry=square(10, 50, 0.1))
    (feature,) = get_map(client)["features"]
    assert feature == {
        "type": "Feature",
        "id": project["id"],
        "geometry": square(10, 50, 0.1),
        "properties": {
            "id": project["id"],
            "name": "Upper Valley",
            "status": "active",
            "area_hectares": project["area_hectares"],
        },
    }


def test_less_than_two_pixels_are_a_point_in_the_middle(client: Client) -> None:
    make_project(client, geometry=square(10, 50, 0.08))
    assert shape(client, 4) == {"type": "Point", "coordinates": [10.04, 50.04]}
    assert shape(client, 5)["type"] == "Polygon"


def test_a_boundary_across_the_antimeridian(client: Client) -> None:
    make_project(client, geometry=multi_square((179.9, 10), (-180, 10), size=0.1))
    assert shape(client, 2) == {"type": "Point", "coordinates": [180, 10.05]}
    assert shape(client, 8)["type"] == "MultiPolygon"


def test_a_long_boundary_is_simplified_and_a_large_zoom_shows_it_whole(client: Client) -> None:
    project = make_project(client, geometry=long_boundary())
    assert len(shape(client, 8)["coordinates"][0]) < 20
    assert len(shape(client, 14)["coordinates"][0]) < 1_000
    assert shape(client, 15) == project["geometry"]


def test_the_box_is_that_of_the_whole_boundaries(client: Client) -> None:
    assert "bbox" not in get_map(client, "zoom=0")
    make_project(client, geometry=square(10, 50, 0.1))
    assert get_map(client, "zoom=0")["bbox"] == [10, 50, 10.1, 50.1]
    make_project(client, geometry=multi_square((179.9, 10), (-180, 10), size=0.1))
    make_project(client, geometry=square(170, 12, 0.5))
    assert get_map(client, "zoom=0&bbox=160,0,-170,60")["bbox"] == [170, 10, -179.9, 12.5]
    assert get_map(client, "zoom=0")["bbox"] == [10, 10, -179.9, 50.1]


@pytest.mark.both
def test_archived_projects_are_included_as_in_the_list(client: Client) -> None:
    first, second = (make_project(client, geometry=square(10, 50, size)) for size in (0.1, 0.2))
    client.post(f"/v1/projects/{first['id']}/archive")
    assert set(ids(client)) == {first["id"], second["id"]}
    assert ids(client, "zoom=8&status=active") == [second["id"]]
    assert get_map(client, "zoom=8&status=archived")["numberMatched"] == 1
    assert ids(client, f"zoom=8&status=archived&bbox={WORLD}") == [first["id"]]
    assert ids(client, "zoom=8&status=archived&bbox=9,49,11,51") == [first["id"]]
    assert ids(client, "zoom=8&status=draft&bbox=9,49,11,51") == []


@pytest.mark.both
def test_another_account_sees_nothing(client: Client, stranger: Client) -> None:
    make_project(client, geometry=square())
    for query in ("zoom=8", "zoom=8&bbox=9,49,11,51"):
        assert get_map(stranger, query)["numberMatched"] == 0


def test_a_query_without_a_zoom(client: Client) -> None:
    response = client.get(PATH)
    assert response.status_code == 400
    assert [detail["field"] for detail in response.json["error"]["details"]] == ["zoom"]


@pytest.mark.both
def test_a_change_is_shown(client: Client) -> None:
    project = make_project(client, geometry=square(10, 50, 0.1))
    client.put(f"/v1/projects/{project['id']}", json={"geometry": square(11, 50, 0.2)})
    assert shape(client, 8) == square(11, 50, 0.2)
    client.put(f"/v1/projects/{project['id']}", json={"geometry": None})
    assert ids(client) == []


@pytest.mark.both
def test_a_boundary_written_with_sql_is_simplified_for_the_answer(client: Client) -> None:
    """Its shapes are those of another boundary, which the area shows."""
    project = make_project(client, geometry=square(10, 50, 0.1))
    sql(
        client,
        "UPDATE projects SET geometry = :geometry, area_m2 = 9, east = 10.2 WHERE id = :id",
        geometry=json.dumps(square(10, 50, 0.2)),
        id=project["id"],
    )
    assert shape(client, 8) == square(10, 50, 0.2)


@pytest.mark.both
def test_of_too_much_the_smallest_are_points(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (0.1, 0.3, 0.2):
        make_project(client, geometry=square(10, 50, size))
    monkeypatch.setattr(shapes, "MAP_BYTES", 200)
    for zoom in (8, 20):
        found = [each["geometry"]["type"] for each in get_map(client, f"zoom={zoom}")["features"]]
        assert found == ["Polygon", "Polygon", "Point"]


@pytest.mark.provokes(503)
def test_a_large_map_waits_for_its_turn(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(client, geometry=square(10, 50, 0.1))
    monkeypatch.setattr(shapes, "EXPENSIVE_PAGE_BYTES", 50)
    monkeypatch.setattr(expensive, "EXPENSIVE_WAIT_SECONDS", 0.01)
    for zoom in (8, 20):
        with turn_taken():
            assert client.get(f"{PATH}?zoom={zoom}").status_code == 503
            assert shape(client, 0)["type"] == "Point"
        assert shape(client, zoom)["type"] == "Polygon"
    assert not TURNS.is_taken
