"""Projects from and up to an area."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lists.doors import project_doors
from tests.make import Client, make_project, square
from tests.pages.support import browser_of

WORLD = "-180,-90,180,90"


@pytest.fixture
def areas(client: Client) -> dict[str, float]:
    """The hectares of three squares, beside a project without a boundary."""
    made = {}
    for name, west, size in (("Small", 5, 0.01), ("Middle", 15, 0.1), ("Large", 25, 1)):
        record = make_project(client, name=name, geometry=square(west, size=size))
        made[name] = record["area_hectares"]
        if name == "Large":
            assert client.post(f"/v1/projects/{record['id']}/archive").status_code == 200
    make_project(client, name="Bare")
    return made


@pytest.mark.both
def test_the_bounds_are_inclusive_by_every_door(
    client: Client, areas: dict[str, float], subtests: pytest.Subtests
) -> None:
    owner = browser_of(client)
    middle, least = areas["Middle"], 0.0001
    for low, high, others, names in (
        (middle, middle, {}, ["Middle"]),
        (middle, None, {}, ["Large", "Middle"]),
        (None, middle, {}, ["Middle", "Small"]),
        (middle + least, None, {}, ["Large"]),
        (None, middle - least, {}, ["Small"]),
        (middle + least, areas["Large"] - least, {}, []),
        (0, None, {}, ["Large", "Middle", "Small"]),
        (0, None, {"status": "active"}, ["Middle", "Small"]),
        (middle, None, {"status": "archived"}, ["Large"]),
        (None, middle, {"bbox": WORLD, "search": "m"}, ["Middle", "Small"]),
        (None, middle, {"has_geometry": "true", "bbox": "4,40,6,60"}, ["Small"]),
        (0, None, {"has_geometry": "false"}, []),
    ):
        bounds = {"min_area_hectares": low, "max_area_hectares": high}
        filters = {key: f"{value:.4f}" for key, value in bounds.items() if value is not None}
        with subtests.test(filters=filters | others):
            found = project_doors(client, owner, filters | others)
            assert found == dict.fromkeys(found, names)


def test_numbers_are_taken_as_json_writes_them(client: Client, areas: dict[str, float]) -> None:
    for text, total in (("7.5e2", 2), ("1E+2", 2), ("1e-05", 3), ("9e11", 0), ("0.00", 3)):
        listed = client.get("/v1/projects", query_string={"min_area_hectares": text}).json
        assert listed["meta"]["total"] == total, text
    refused = client.get("/v1/projects?max_area_hectares=1,5").json["error"]["details"]
    assert refused[0]["message"] == "Must be a number, such as 12.5."


@pytest.mark.both
def test_each_page_has_the_total_of_the_filters(client: Client, areas: dict[str, float]) -> None:
    query: dict[str, Any] = {
        "min_area_hectares": areas["Middle"], "status": "active", "per_page": 2,
        "sort": "area_hectares", "order": "desc",
    }  # fmt: skip
    sizes = [
        make_project(client, geometry=square(40 + i, size=0.2 + i / 100))["area_hectares"]
        for i in range(6)
    ]
    found = []
    for page in (1, 2, 3, 4, 5):
        listed = client.get("/v1/projects", query_string=query | {"page": page}).json
        assert listed["meta"] == {"total": 7, "page": page, "per_page": 2, "total_pages": 4}
        found += [each["area_hectares"] for each in listed["data"]]
    assert found == [*sorted(sizes, reverse=True), areas["Middle"]]


def test_what_is_no_area_is_named(client: Client, subtests: pytest.Subtests) -> None:
    for path in ("/v1/projects", "/v1/projects/map", "/v1/exports/projects", "/v1/eudr"):
        also = {"zoom": "1"} if path.endswith("/map") else {}
        for name in ("min_area_hectares", "max_area_hectares"):
            for value in ("x", "", "-1", "nan", "inf", "1e400", "1e300"):
                with subtests.test(path=path, name=name, value=value):
                    refused = client.get(path, query_string=also | {name: value})
                    assert refused.status_code == 400
                    assert [each["field"] for each in refused.json["error"]["details"]] == [name]
        with subtests.test(path=path):
            bounds = {"min_area_hectares": "2", "max_area_hectares": "1.9999"}
            refused = client.get(path, query_string=also | bounds)
            assert refused.status_code == 400
            assert refused.json["error"]["details"] == [
                {
                    "field": "min_area_hectares",
                    "message": "Must not be more than max_area_hectares.",
                    "code": "too_large",
                }
            ]


def test_pages_tell_wrong_bounds_beside_other_wrong_filters(
    client: Client, areas: dict[str, float]
) -> None:
    owner = browser_of(client)
    query = "min_area_hectares=5&max_area_hectares=4&has_geometry=x&status=y"
    for path, status in (
        ("/projects", 200),
        ("/projects/map", 400),
        ("/projects/export", 400),
        ("/eudr", 200),
    ):
        page = owner.get(f"{path}?{query}")
        assert page.status == status
        body = page.response.get_data(as_text=True)
        for message in (
            "Hectares, at least: Must not be more than Hectares, at most.",
            "Boundary: Must be true or false.",
            "status: Must be one of",
        ):
            assert message in body, path
