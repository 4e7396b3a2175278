"""POST /v1/projects: what a new project is, and what is refused (docs/api-conventions.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.policy import bounds
from tests.make import Client, event_types, make_account, make_project, multi_square, square

FIELDS = [
    *("id", "name", "slug", "external_id", "description", "geometry", "area_hectares", "country"),
    "status",
    *("metadata", "created_at", "updated_at"),
]
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.mark.both
def test_answers_201_with_the_address_of_the_project(client: Client) -> None:
    response = client.post("/v1/projects", json={"name": "Schwarzwald"})
    assert response.status_code == 201
    location = response.headers["Location"]
    assert location == f"http://localhost/v1/projects/{response.json['data']['id']}"
    assert client.get(location).json["data"] == response.json["data"]


@pytest.mark.both
def test_has_the_fields_of_a_project_and_no_others(client: Client) -> None:
    assert list(make_project(client)) == FIELDS


@pytest.mark.both
def test_a_name_is_enough(client: Client) -> None:
    project = make_project(client, name="Schwarzwald")
    assert project["name"] == "Schwarzwald"
    assert project["status"] == "active"
    assert project["description"] is None
    assert project["geometry"] is None
    assert project["area_hectares"] is None


@pytest.mark.both
def test_id_is_prefixed_and_short(client: Client) -> None:
    project_id = make_project(client)["id"]
    assert re.fullmatch(r"proj_[0-9a-hjkmnp-tv-z]{26}", project_id)
    assert len(project_id) <= 40


@pytest.mark.both
def test_later_ids_sort_later(client: Client) -> None:
    made = [make_project(client)["id"] for _ in range(5)]
    assert sorted(made) == made


@pytest.mark.both
def test_moments_have_three_decimals_and_are_equal(client: Client) -> None:
    project = make_project(client)
    assert re.fullmatch(TIME, project["created_at"])
    assert project["updated_at"] == project["created_at"]


@pytest.mark.both
def test_area_of_a_polygon_is_calculated(client: Client) -> None:
    """The reference area of a geodesic square of one degree at the third parallel."""
    ring = [[-2, 3], [-1, 3], [-1, 4], [-2, 4], [-2, 3]]
    project = make_project(client, geometry={"type": "Polygon", "coordinates": [ring]})
    assert project["area_hectares"] == pytest.approx(12286884908.9469 / 10_000, abs=0.001)


@pytest.mark.both
def test_area_is_rounded_to_square_metres(client: Client) -> None:
    area = make_project(client, geometry=square(size=0.01))["area_hectares"]
    assert round(area, 4) == area


@pytest.mark.both
def test_area_of_a_multipolygon_is_the_sum_of_its_parts(client: Client) -> None:
    one = make_project(client, geometry=square(8, 48))["area_hectares"]
    two = make_project(client, geometry=square(9, 52))["area_hectares"]
    both = make_project(client, geometry=multi_square((8, 48), (9, 52)))["area_hectares"]
    assert both == pytest.approx(one + two, abs=0.0001)


@pytest.mark.both
def test_coordinates_come_back_as_they_were_sent(client: Client) -> None:
    ring = [[8.1, 48.10], [8.2000001, 48.1], [8.2, 48.3333333333333], [8, 48.2], [8.1, 48.1]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    assert make_project(client, geometry=geometry)["geometry"] == geometry


@pytest.mark.both
def test_winding_changes_the_order_and_not_the_area(client: Client) -> None:
    right = square()
    wrong = {"type": "Polygon", "coordinates": [right["coordinates"][0][::-1]]}
    first, second = make_project(client, geometry=right), make_project(client, geometry=wrong)
    assert second["geometry"] == first["geometry"] == right
    assert second["area_hectares"] == first["area_hectares"]


@pytest.mark.both
def test_null_is_as_good_as_absent(client: Client) -> None:
    project = make_project(client, description=None, geometry=None)
    assert project["description"] is None
    assert project["geometry"] is None


@pytest.mark.both
def test_strings_are_trimmed(client: Client) -> None:
    project = make_project(client, name="  Schwarzwald\n", description="\t dark  ")
    assert project["name"] == "Schwarzwald"
    assert project["description"] == "dark"


@pytest.mark.both
@pytest.mark.parametrize("name", ["x", "x" * bounds.NAME_LENGTH, "森" * bounds.NAME_LENGTH])
def test_name_of_one_to_two_hundred_characters(client: Client, name: str) -> None:
    assert make_project(client, name=name)["name"] == name


@pytest.mark.both
@pytest.mark.parametrize("letter", ["x", "ß", "🌲", "\n"])
def test_description_of_ten_thousand_characters(client: Client, letter: str) -> None:
    text = "a" + letter * (bounds.DESCRIPTION_LENGTH - 2) + "b"
    assert make_project(client, description=text)["description"] == text


@pytest.mark.both
def test_an_empty_description_stays_empty(client: Client) -> None:
    assert make_project(client, description="")["description"] == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "proj_1"},
        {"slug": "mine"},
        {"area_hectares": 1e9},
        {"area_hectares": "large"},
        {"created_at": "1999-01-01T00:00:00.000Z"},
        {"updated_at": None},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_read_only_fields_are_ignored(client: Client, fields: dict[str, Any]) -> None:
    project = make_project(client, **fields)
    name, sent = next(iter(fields.items()))
    assert project[name] != sent


@pytest.mark.both
def test_what_was_read_can_be_sent_back_but_for_the_status(
    client: Client, stranger: Client
) -> None:
    project = make_project(client, name="A", description="B", geometry=square())
    copy = stranger.post("/v1/projects", json=project)
    assert [detail["field"] for detail in copy.json["error"]["details"]] == ["status"]
    copy = stranger.post("/v1/projects", json={k: project[k] for k in FIELDS if k != "status"})
    assert copy.status_code == 201
    assert copy.json["data"]["geometry"] == project["geometry"]


@pytest.mark.both
def test_a_refused_project_leaves_nothing(client: Client) -> None:
    assert client.post("/v1/projects", json={"name": ""}).status_code == 422
    assert client.get("/v1/projects").json["meta"]["total"] == 0
    assert client.get("/v1/account").json["data"]["usage"]["projects"] == 0
    assert event_types(client) == []


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Schwarzwald", "schwarzwald"),
        ("Bayerischer Wald", "bayerischer-wald"),
        ("Straße & Söhne!", "strasse-sohne"),
        ("  --A__B--  ", "a-b"),
        ("Forêt d'Orléans", "foret-d-orleans"),
        ("Łódź", "lodz"),
        ("100 % Wald", "100-wald"),
        ("тайга", "tayga"),
        ("x" * 200, "x" * 63),
        ("x" * 62 + " y", "x" * 62),
    ],
)
def test_slug_comes_from_the_name(client: Client, name: str, slug: str) -> None:
    assert make_project(client, name=name)["slug"] == slug


@pytest.mark.both
@pytest.mark.parametrize("name", ["Admin", "v1", "new"])
def test_a_reserved_word_gets_another_slug(client: Client, name: str) -> None:
    said = client.app.test_client().post("/api/projects/validate-slug", json={"slug": name})
    slug = make_project(client, name=name)["slug"]
    assert slug == f"{name.lower()}-2"
    assert said.json["data"] == {"valid": False, "slug": slug}
    again = client.post("/v1/projects", json={"name": name})
    assert again.status_code == 409
    assert again.json["error"]["details"][0]["code"] == "slug_taken"
    ignored = client.post("/v1/projects", json={"name": "Wald", "slug": "admin"})
    assert ignored.json["data"]["slug"] == "wald"


@pytest.mark.both
@pytest.mark.parametrize("name", ["…", "---", "!!!", "?"])
def test_slug_of_a_name_without_letters_is_made_of_the_id(client: Client, name: str) -> None:
    first = make_project(client, name=name)
    assert first["slug"] == f"project-{first['id'][-8:]}"


@pytest.mark.both
def test_names_without_letters_do_not_collide(client: Client) -> None:
    slugs = {make_project(client, name="…")["slug"] for _ in range(3)}
    assert len(slugs) == 3


@pytest.mark.both
@pytest.mark.parametrize("second", ["Wald", "WALD", " wald ", "Wald!", "wÄld"])
def test_a_slug_in_use_is_a_conflict(client: Client, second: str) -> None:
    make_project(client, name="Wald")
    response = client.post("/v1/projects", json={"name": second})
    assert response.status_code == 409
    assert response.json["error"]["code"] == "CONFLICT"
    assert [detail["field"] for detail in response.json["error"]["details"]] == ["slug"]
    assert client.get("/v1/projects").json["meta"]["total"] == 1


@pytest.mark.both
def test_a_conflict_counts_nothing_and_tells_nobody(client: Client) -> None:
    make_project(client, name="Wald", geometry=square())
    before = client.get("/v1/account").json["data"]["usage"]
    client.post("/v1/projects", json={"name": "Wald", "geometry": square()})
    assert client.get("/v1/account").json["data"]["usage"] == before
    assert event_types(client) == ["project.created"]


@pytest.mark.both
def test_another_account_may_have_the_same_slug(client: Client, stranger: Client) -> None:
    assert make_project(client, name="Wald")["slug"] == make_project(stranger, name="Wald")["slug"]


@pytest.mark.both
def test_a_slug_is_free_again_after_the_project_is_deleted(client: Client) -> None:
    project = make_project(client, name="Wald")
    client.post(f"/v1/projects/{project['id']}/archive")
    assert client.delete(f"/v1/projects/{project['id']}").status_code == 204
    assert make_project(client, name="Wald")["slug"] == "wald"


@pytest.mark.both
def test_every_plan_may_go_over_its_hectares(app: Any) -> None:
    """The quota of hectares is reported, and never refuses work."""
    small = make_account(app, plan="free")
    assert make_project(small, geometry=square(size=1))["area_hectares"] > 1000
