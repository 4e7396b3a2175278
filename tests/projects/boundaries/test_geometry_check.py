"""POST /v1/geometry/validate: every problem with its place (docs/boundaries.md, "Checking")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import Client, make_project, multi_square

PROBLEM = ["code", "message", "part", "ring", "position", "coordinates"]


def _check(client: Client, geometry: Any) -> dict[str, Any]:
    response = client.post("/v1/geometry/validate", json={"geometry": geometry})
    assert response.status_code == 200, response.json
    return response.json["data"]


def test_what_a_project_would_have(client: Client) -> None:
    geometry = multi_square((8, 48), (9, 52))
    report = _check(client, geometry)
    assert client.get("/v1/projects").json["meta"]["total"] == 0
    area = make_project(client, geometry=geometry)["area_hectares"]
    assert report == {"valid": True, "area_hectares": area, "problems": [], "warnings": []}


def test_a_bow_tie_is_told_with_its_place(client: Client) -> None:
    ring = [[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]
    report = _check(client, {"type": "Polygon", "coordinates": [ring]})
    assert (report["valid"], report["area_hectares"]) == (False, None)
    problem = report["problems"][0]
    assert list(problem) == PROBLEM
    assert problem["code"] == "self_intersection"
    assert (problem["part"], problem["ring"]) == (None, 0)
    assert problem["coordinates"] == pytest.approx([0.5, 0.5], abs=0.001)


def test_indices_count_from_zero(client: Client) -> None:
    boundary = multi_square((8, 48), (9, 52))
    boundary["coordinates"][1][0][2][1] = 95
    problem = _check(client, boundary)["problems"][0]
    place = (problem["part"], problem["ring"], problem["position"])
    assert (problem["code"], place) == ("out_of_range", (1, 0, 2))


def test_whatever_is_no_geometry_is_a_report_too(client: Client) -> None:
    for value in (None, 5, "POLYGON", [], {}, {"type": "Point"}):
        report = _check(client, value)
        assert report["valid"] is False
        assert report["problems"]
        assert all(p["part"] is p["ring"] is p["position"] is None for p in report["problems"])


def test_all_crossings_of_a_ring_are_told_at_once(client: Client) -> None:
    """As a ring crosses itself that a program has simplified: four times."""
    ring = [
        [10, 47], [10.1, 47], [10.1, 47.01], [10.08, 46.99], [10.06, 47.01], [10.04, 46.99],
        [10.02, 47.01], [10, 47.01], [10, 47],
    ]  # fmt: skip
    geometry = {"type": "Polygon", "coordinates": [ring]}
    problems = _check(client, geometry)["problems"]
    places = [10.03, 10.05, 10.07, 10.09]
    assert sorted(each["coordinates"][0] for each in problems) == pytest.approx(places)
    refused = client.post("/v1/projects", json={"name": "A", "geometry": geometry})
    assert refused.status_code == 422
    details = refused.json["error"]["details"]
    assert [each["message"] for each in details] == [each["message"] for each in problems]
    assert {each["field"] for each in details} == {"geometry.coordinates"}


def test_an_edge_over_the_antimeridian_has_a_fix_that_is_valid(client: Client) -> None:
    ring = [[179.9, 10], [-179.9, 10], [-179.9, 10.2], [179.9, 10.2], [179.9, 10]]
    first, second = _check(client, {"type": "Polygon", "coordinates": [ring]})["problems"]
    assert (first["code"], second["code"]) == ("antimeridian", "antimeridian")
    assert list(second) == PROBLEM
    assert first["fix"]["type"] == "MultiPolygon"
    assert _check(client, first["fix"])["valid"]
    assert make_project(client, geometry=first["fix"])["geometry"] == first["fix"]


def test_a_geometry_with_other_problems_has_no_fix(client: Client) -> None:
    bow = [[179.9, 10], [-179.9, 10.2], [-179.9, 10], [179.9, 10.2], [179.9, 10]]
    problems = _check(client, {"type": "Polygon", "coordinates": [bow]})["problems"]
    assert all(list(problem) == PROBLEM for problem in problems)


_A, _B, _C, _D = [10, 50], [10.1, 50], [10.1, 50.1], [10, 50.1]


@pytest.mark.parametrize(
    ("ring", "codes", "positions"),
    [
        ([_A, _B, _B, _B, _C, _D, _A, _A], ["repeated_position"] * 2, [2, 7]),  # double clicks
        ([_A, _B, [10.1, 50.05], [10.02, 50.05], [10.1, 50.05000001], _C, _D, _A], ["spike"], [3]),
    ],
)
def test_warnings_are_told_beside_and_never_refused(
    client: Client, ring: list[Any], codes: list[str], positions: list[int]
) -> None:
    geometry = {"type": "Polygon", "coordinates": [ring]}
    report = _check(client, geometry)
    assert (report["valid"], report["problems"]) == (True, [])
    warnings = report["warnings"]
    assert all(list(warning) == PROBLEM for warning in warnings)
    assert [warning["code"] for warning in warnings] == codes
    assert [warning["position"] for warning in warnings] == positions
    made = make_project(client, geometry=geometry)
    assert made["geometry"] == geometry
    assert client.get(f"/v1/projects/{made['id']}").json["data"]["geometry"] == geometry
