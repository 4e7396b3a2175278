"""POST /v1/projects: what a new project is, and what is refused (docs/api-conventions.md)."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.policy import request_limits
from tests.make import Client, event_types, make_account, make_project, multi_square, square

FIELDS = [
    *("id", "name", "slug", "external_id", "description", "geometry", "area_hectares", "country"),
    *("status", "metadata", "created_at", "updated_at"),
]
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.mark.both
def test_a_name_is_enough(client: Client) -> None:
    response = client.post("/v1/projects", json={"name": "Schwarzwald"})
    project = response.json["data"]
    assert response.status_code == 201
    assert response.headers["Location"] == f"http://localhost/v1/projects/{project['id']}"
    assert client.get(response.headers["Location"]).json["data"] == project
    assert list(project) == FIELDS
    assert (project["name"], project["slug"], project["status"]) == (
        "Schwarzwald", "schwarzwald", "active",
    )  # fmt: skip
    assert project["description"] is project["geometry"] is project["area_hectares"] is None
    assert re.fullmatch(r"proj_[0-9a-hjkmnp-tv-z]{26}", project["id"])
    assert re.fullmatch(TIME, project["created_at"])
    assert project["updated_at"] == project["created_at"]


def test_the_area_is_geodesic_and_rounded_to_square_metres(client: Client) -> None:
    """The reference area of a geodesic square of one degree at the third parallel."""
    ring = [[-2, 3], [-1, 3], [-1, 4], [-2, 4], [-2, 3]]
    project = make_project(client, geometry={"type": "Polygon", "coordinates": [ring]})
    assert project["area_hectares"] == pytest.approx(12286884908.9469 / 10_000, abs=0.001)
    one = make_project(client, geometry=square(8, 48))["area_hectares"]
    assert round(one, 4) == one
    two = make_project(client, geometry=square(9, 52))["area_hectares"]
    both = make_project(client, geometry=multi_square((8, 48), (9, 52)))["area_hectares"]
    assert both == pytest.approx(one + two, abs=0.0001)


@pytest.mark.both
def test_coordinates_come_back_as_they_were_sent(client: Client) -> None:
    ring = [[8.1, 48.10], [8.2000001, 48.1], [8.2, 48.3333333333333], [8, 48.2], [8.1, 48.1]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    assert make_project(client, geometry=geometry)["geometry"] == geometry


def test_winding_changes_the_order_and_not_the_area(client: Client) -> None:
    right = square()
    wrong = {"type": "Polygon", "coordinates": [right["coordinates"][0][::-1]]}
    first, second = make_project(client, geometry=right), make_project(client, geometry=wrong)
    assert second["geometry"] == first["geometry"] == right
    assert second["area_hectares"] == first["area_hectares"]


@pytest.mark.both
def test_texts_are_trimmed_and_may_be_long(client: Client) -> None:
    project = make_project(client, name="  Schwarzwald\n", description="\t dark  ")
    assert (project["name"], project["description"]) == ("Schwarzwald", "dark")
    for name in ("x", "森" * request_limits.NAME_LENGTH):
        assert make_project(client, name=name)["name"] == name
    for letter in ("🌲", "\n"):
        text = "a" + letter * (request_limits.DESCRIPTION_LENGTH - 2) + "b"
        assert make_project(client, description=text)["description"] == text
    assert make_project(client, description="")["description"] == ""


def test_what_was_read_can_be_sent_back_but_for_the_status(
    client: Client, stranger: Client
) -> None:
    """What cannot be written is not looked at."""
    project = make_project(client, name="A", description="B", geometry=square())
    copy = stranger.post("/v1/projects", json=project)
    assert [detail["field"] for detail in copy.json["error"]["details"]] == ["status"]
    copy = stranger.post("/v1/projects", json={k: project[k] for k in FIELDS if k != "status"})
    assert copy.status_code == 201
    assert copy.json["data"]["geometry"] == project["geometry"]
    sent = {"id": "proj_1", "slug": "mine", "area_hectares": "large", "created_at": None}
    project = make_project(client, **sent)
    assert all(project[name] != value for name, value in sent.items())


def test_slug_comes_from_the_name(client: Client) -> None:
    for name, slug in (
        ("Bayerischer Wald", "bayerischer-wald"),
        ("Straße & Söhne!", "strasse-sohne"),
        ("  --A__B--  ", "a-b"),
        ("Łódź", "lodz"),
        ("тайга", "tayga"),
        ("x" * 62 + " y", "x" * 62),
    ):
        assert make_project(client, name=name)["slug"] == slug


def test_a_reserved_word_gets_another_slug(client: Client) -> None:
    for name in ("Admin", "new"):
        said = client.app.test_client().post("/api/projects/validate-slug", json={"slug": name})
        slug = make_project(client, name=name)["slug"]
        assert slug == f"{name.lower()}-2"
        assert said.json["data"] == {"valid": False, "slug": slug}
        again = client.post("/v1/projects", json={"name": name})
        assert again.status_code == 409
        assert again.json["error"]["details"][0]["code"] == "slug_taken"


def test_slug_of_a_name_without_letters_is_made_of_the_id(client: Client) -> None:
    for name in ("…", "---", "…"):
        project = make_project(client, name=name)
        assert project["slug"] == f"project-{project['id'][-8:]}"


@pytest.mark.both
def test_a_slug_in_use_is_a_conflict_which_counts_nothing_and_tells_nobody(
    client: Client, stranger: Client
) -> None:
    project = make_project(client, name="Wald", geometry=square())
    before = client.get("/v1/account").json["data"]["usage"]
    for name in ("Wald", " WALD! ", "wÄld"):
        response = client.post("/v1/projects", json={"name": name, "geometry": square()})
        assert response.status_code == 409
        assert response.json["error"]["code"] == "CONFLICT"
        assert [detail["field"] for detail in response.json["error"]["details"]] == ["slug"]
    assert client.get("/v1/account").json["data"]["usage"] == before
    assert event_types(client) == ["project.created"]
    assert make_project(stranger, name="Wald")["slug"] == "wald"
    client.post(f"/v1/projects/{project['id']}/archive")
    assert client.delete(f"/v1/projects/{project['id']}").status_code == 204
    assert make_project(client, name="Wald")["slug"] == "wald"


def test_every_plan_may_go_over_its_hectares(app: Flask) -> None:
    """The quota of hectares is reported, and never refuses work."""
    small = make_account(app, plan="free")
    assert make_project(small, geometry=square(size=1))["area_hectares"] > 1000
