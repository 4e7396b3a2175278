"""GET /v1/projects/{project_id}/overlaps, and ``overlaps`` of POST /v1/geometry/validate."""

from __future__ import annotations

from typing import Any

import pytest

from app.db.transactions import transaction
from app.geometry import read_boundary
from app.geometry.timed import processor_seconds
from app.projects.boundaries import overlaps
from app.projects.service import create_project
from tests.geometry.drawing import box, multipolygon, polygon
from tests.geometry.expensive_shapes import comb
from tests.make import Client, event_types, make_project, multi_square, operator_of, square
from tests.processor_time import is_within

Record = dict[str, Any]
VALIDATE = "/v1/geometry/validate"


def overlaps_of(client: Client, project: Record) -> list[Record]:
    response = client.get(f"/v1/projects/{project['id']}/overlaps")
    assert response.status_code == 200, response.json
    found: list[Record] = response.json["data"]
    assert response.json["meta"] == {"total": len(found), "complete": True}
    return found


def hectares(geometry: Record) -> float:
    return read_boundary(geometry).area_m2 / 10_000


@pytest.mark.both
def test_the_largest_come_first(client: Client) -> None:
    own = make_project(client, geometry=square(10, 50, 0.1))
    corner = make_project(client, name="Corner", geometry=square(10.09, 50.09, 0.1))
    inside = make_project(client, name="Inside", geometry=square(10.04, 50.04, 0.02))
    around = make_project(client, name="Around", geometry=square(9, 49, 3))
    make_project(client, name="Apart", geometry=square(11, 50, 0.1))
    make_project(client, name="No boundary")
    found = overlaps_of(client, own)
    assert [each["project_id"] for each in found] == [
        each["id"] for each in (around, inside, corner)
    ]
    assert [each["name"] for each in found] == ["Around", "Inside", "Corner"]
    assert found[0] == found[0] | {"overlap_hectares": own["area_hectares"], "share": 1}
    assert found[1]["overlap_hectares"] == inside["area_hectares"]
    assert found[1]["share"] == pytest.approx(
        inside["area_hectares"] / own["area_hectares"], abs=1e-6
    )
    wanted = hectares(polygon(box(10.09, 50.09, 10.1, 50.1)))
    assert found[2]["overlap_hectares"] == pytest.approx(wanted, abs=0.001)
    (seen_from_there,) = [each for each in overlaps_of(client, inside) if each["name"] != "Around"]
    assert seen_from_there["project_id"] == own["id"]
    assert seen_from_there["share"] == 1


def test_neighbors_do_not_overlap(client: Client) -> None:
    """They share an edge, or a part of one, or a corner."""
    own = make_project(client, geometry=square(10, 50, 0.1))
    make_project(client, geometry=square(10.1, 50, 0.1))
    make_project(client, geometry=square(10.033, 50.1, 0.0123))
    make_project(client, geometry=square(9.9, 49.9, 0.1))
    assert overlaps_of(client, own) == []


def test_from_one_square_meter_on(client: Client) -> None:
    own = make_project(client, geometry=square(10, 50, 0.1))
    for name, width in (("Half", 7e-6), ("Two", 3e-5)):
        strip = box(10.1 - width, 50.02, 10.2, 50.02 + 9e-6)
        make_project(client, name=name, geometry=polygon(strip))
    assert [each["name"] for each in overlaps_of(client, own)] == ["Two"]


def test_archived_projects_are_left_out(client: Client) -> None:
    own = make_project(client, geometry=square(10, 50, 0.1))
    other = make_project(client, geometry=square(10, 50, 0.2))
    client.post(f"/v1/projects/{other['id']}/archive")
    assert overlaps_of(client, own) == []
    assert len(overlaps_of(client, other)) == 1


def test_holes_do_not_overlap(client: Client) -> None:
    hole = box(10.02, 50.02, 10.08, 50.08)
    own = make_project(client, geometry=polygon(box(10, 50, 10.1, 50.1), hole))
    make_project(client, geometry=square(10.03, 50.03, 0.01))
    assert overlaps_of(client, own) == []


@pytest.mark.both
def test_across_the_antimeridian(client: Client) -> None:
    east, west = box(179.9, 0, 180, 0.1), box(-180, 0, -179.9, 0.1)
    own = make_project(client, geometry=multipolygon([east], [west]))
    both = make_project(
        client, name="Both", geometry=multi_square((179.95, 0), (-180, 0), size=0.05)
    )
    one = make_project(client, name="One", geometry=square(-179.95, 0.05, 0.1))
    make_project(client, name="Far", geometry=square(0, 0, 0.1))
    found = overlaps_of(client, own)
    assert [each["project_id"] for each in found] == [both["id"], one["id"]]
    assert found[0]["overlap_hectares"] == pytest.approx(both["area_hectares"], abs=0.001)
    assert {each["name"] for each in overlaps_of(client, one)} == {own["name"]}


@pytest.mark.both
def test_other_accounts_are_not_looked_at(client: Client, stranger: Client) -> None:
    own = make_project(client, geometry=square(10, 50, 0.1))
    make_project(stranger, geometry=square(10, 50, 0.1))
    assert overlaps_of(client, own) == []
    assert stranger.get(f"/v1/projects/{own['id']}/overlaps").status_code == 404
    report = stranger.post(VALIDATE, json={"geometry": square(10, 50, 0.1), "overlaps": True})
    assert len(report.json["data"]["overlaps"]) == 1


def test_a_geometry_that_is_checked(client: Client) -> None:
    own = make_project(client, geometry=square(10, 50, 0.1))
    known = event_types(client)
    body = {"geometry": square(10.05, 50, 0.1), "overlaps": True}
    response = client.post(VALIDATE, json=body)
    assert response.json["meta"]["complete"] is True
    (found,) = response.json["data"]["overlaps"]
    assert found["project_id"] == own["id"]
    assert found["share"] == pytest.approx(0.5, abs=0.001)
    same = client.post(VALIDATE, json=body | {"project_id": own["id"]})
    assert same.json["data"]["overlaps"] == []
    other = client.post(VALIDATE, json=body | {"project_id": None, "overlaps": False})
    assert "overlaps" not in other.json["data"]
    assert "complete" not in other.json["meta"]
    assert event_types(client) == known


def test_only_a_valid_geometry_is_compared(client: Client) -> None:
    crossed = polygon([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]])
    response = client.post(VALIDATE, json={"geometry": crossed, "overlaps": True})
    assert response.json["data"]["valid"] is False
    assert "overlaps" not in response.json["data"]


def test_the_hundred_largest_of_many(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others that cannot be larger are not even read."""
    monkeypatch.setattr(overlaps, "OVERLAPS_SHOWN", 3)
    monkeypatch.setattr(overlaps, "ROWS", 2)
    own = make_project(client, geometry=square(10, 50, 0.1))
    sizes = [0.01, 0.03, 0.02, 0.05, 0.04, 0.015]
    for size in sizes:
        make_project(client, name=f"{size}", geometry=square(10.02, 50.02, size))
    read = []
    with_texts = overlaps._with_texts

    def noting(*args: Any) -> Any:
        for candidate, text in with_texts(*args):
            read.append(candidate.row.name)
            yield candidate, text

    monkeypatch.setattr(overlaps, "_with_texts", noting)
    assert [each["name"] for each in overlaps_of(client, own)] == ["0.05", "0.04", "0.03"]
    assert read == ["0.05", "0.04", "0.03", "0.02"]


def test_what_could_not_be_compared_is_told(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = make_project(client, geometry=comb(4_000))
    ring = own["geometry"]["coordinates"][0]
    make_project(client, name="Crossed", geometry=polygon([[y, x] for x, y in ring]))
    easy = make_project(client, name="Easy", geometry=square(-4, -0.5, 0.2))
    path = f"/v1/projects/{own['id']}/overlaps"
    monkeypatch.setattr(overlaps, "OVERLAPS_SECONDS", 60.0)  # only the crossed one takes too long
    response = client.get(path)
    assert response.json["meta"] == {"total": 1, "complete": False}
    assert response.json["data"][0]["project_id"] == easy["id"]
    monkeypatch.setattr(overlaps, "OVERLAPS_SECONDS", 0.0)
    assert client.get(path).json["meta"] == {"total": 0, "complete": False}


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
@pytest.mark.both
def test_the_largest_boundaries_on_one_another_end_in_time(client: Client) -> None:
    (ring,) = comb(90_000)["coordinates"]
    with client.app.app_context(), transaction():
        for number in range(4):
            moved = polygon([[lon + number * 1e-6, lat] for lon, lat in ring])
            boundary = read_boundary(moved)
            last = create_project(operator_of(client), name=f"{number}", geometry=boundary)
    began = processor_seconds()
    response = client.get(f"/v1/projects/{last['id']}/overlaps")
    assert is_within(processor_seconds() - began, 2)
    assert response.json["meta"]["complete"] is False
