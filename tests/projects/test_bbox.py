"""``bbox``: what touches a box, compared with ``overlaps``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import Client, make_project, square

pytestmark = pytest.mark.both


WEST_OF_180 = {"west": 179.5, "south": 10, "size": 0.5}
EAST_OF_180 = {"west": -180, "south": 10, "size": 0.5}


def _dateline() -> dict[str, Any]:
    """A boundary on both sides of the antimeridian."""
    parts = [square(**box)["coordinates"] for box in (WEST_OF_180, EAST_OF_180)]
    return {"type": "MultiPolygon", "coordinates": parts}


def _found(client: Client, box: str, path: str = "/v1/projects") -> set[str]:
    response = client.get(f"{path}?bbox={box}&per_page=100")
    assert response.status_code == 200, response.json
    assert len(response.json["data"]) == response.json["meta"]["total"]
    return {item["id"] for item in response.json["data"]}


IN_A_SQUARE = [
    ("9,49,11,51", True),
    ("10.02,50.02,10.03,50.03", True),
    ("10.1,50.1,11,51", True),
    ("9,49,10,50", True),
    ("10.100001,50,11,51", False),
    ("9,50,9.999999,51", False),
    ("9,50.1000001,11,51", False),
    ("-180,-90,180,90", True),
    ("170,49,-170,51", False),
    ("10.05,49,10.04,51", True),
    ("11,49,9,51", False),
    ("10.05,50.05,10.05,50.05", True),
    ("1e1,5e1,1.01e1,50.1", True),
]
ACROSS_THE_ANTIMERIDIAN = [
    ("179,9,-179,11", True),
    ("179.6,10,179.7,10.1", True),
    ("-179.9,10,-179.8,10.1", True),
    ("179.999,10,180,11", True),
    ("-180,10,-179.999,11", True),
    ("-179,10,179,11", False),
    ("-179.4,10,179.4,11", False),
    ("-179.5,10,179.4,11", True),
    ("180,10,-180,10.2", True),
]


@pytest.mark.parametrize(
    ("geometry", "boxes"),
    [(square(10, 50, 0.1), IN_A_SQUARE), (_dateline(), ACROSS_THE_ANTIMERIDIAN)],
    ids=["a square", "across the antimeridian"],
)
def test_what_touches_a_box_is_found(
    client: Client, geometry: dict[str, Any], boxes: list[tuple[str, bool]]
) -> None:
    project = make_project(client, geometry=geometry)
    make_project(client)  # without a boundary it is nowhere
    for box, is_found in boxes:
        assert _found(client, box) == ({project["id"]} if is_found else set()), box


def test_a_boundary_that_moved_is_found_where_it_is(client: Client) -> None:
    project = make_project(client, geometry=square(10, 50))
    client.put(f"/v1/projects/{project['id']}", json={"geometry": square(20, 40)})
    assert _found(client, "19,39,21,41") == {project["id"]}
    assert _found(client, "9,49,11,51") == set()
    client.put(f"/v1/projects/{project['id']}", json={"geometry": None})
    assert _found(client, "19,39,21,41") == set()


def test_with_search_and_status(client: Client) -> None:
    wanted = make_project(client, name="Alder", geometry=square())
    make_project(client, name="Birch", geometry=square())
    make_project(client, name="Alder far away", geometry=square(50, 0))
    archived = make_project(client, name="Alder of old", geometry=square())
    client.post(f"/v1/projects/{archived['id']}/archive")
    assert _found(client, "9,49,11,51&search=alder&status=active") == {wanted["id"]}
