"""Filters of assets, whose places are points."""

from __future__ import annotations

import pytest

from tests.make import Client, make_asset, make_project, point
from tests.ogc.reading import names

pytestmark = pytest.mark.both


def test_assets_are_filtered_by_place_and_property(client: Client) -> None:
    project = make_project(client)["id"]
    make_asset(client, project, name="in", location=point(10.5, 50.5), type="post")
    make_asset(client, project, name="edge", location=point(11, 51))
    make_asset(client, project, name="out", location=point(12, 50.5))
    make_asset(client, project, name="nowhere")
    assert names(client, "assets", bbox="10,50,11,51") == ["edge", "in"]
    assert names(client, "assets", bbox="10,50,11,51", type="post") == ["in"]
    triangle = "S_INTERSECTS(geometry, POLYGON((10 50, 12 50, 10 52, 10 50)))"
    assert names(client, "assets", filter=triangle) == ["edge", "in"]
    triangle = "NOT S_INTERSECTS(geometry, POLYGON((10 50, 11 50, 10 51, 10 50)))"
    assert names(client, "assets", filter=triangle) == ["edge", "out"]
    assert names(client, "assets", project_id=project) == ["edge", "in", "nowhere", "out"]
    assert names(client, "assets", project_id="proj_x") == []


def test_assets_are_filtered_by_external_id(client: Client) -> None:
    one, other = make_project(client)["id"], make_project(client)["id"]
    for project, name, own_id in (
        (one, "a", "E-1"), (one, "b", "e-1"), (one, "c", None), (other, "d", "E-1"),
    ):  # fmt: skip
        make_asset(client, project, name=name, external_id=own_id)
    assert names(client, "assets", external_id="E-1") == ["a", "d"]
    assert names(client, "assets", external_id="E-1", project_id=other) == ["d"]
    for condition, found in (
        ("external_id = 'e-1'", ["b"]),
        ("external_id IN ('E-1', 'e-1')", ["a", "b", "d"]),
        ("external_id <> 'E-1'", ["b"]),
        ("external_id IS NULL", ["c"]),
        ("external_id LIKE 'E%'", ["a", "d"]),
    ):
        assert names(client, "assets", filter=condition) == found, condition
