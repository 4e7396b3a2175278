"""Imports into an account whose history is full."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from flask import Flask

from tests.cli.conftest import runner
from tests.imports.making import act, features_of, projects, ready
from tests.make import Client, make_account, make_project, second_app, square
from tests.make.features import collection, feature
from tests.pages.support import browser_of
from tests.usage.test_history_bytes import actual, current


def with_room(client: Client, made: Flask, room: int) -> None:
    """Leave so much room in the history, by the bound of an application."""
    bound = current(client) + room
    settings = dataclasses.replace(made.config["SETTINGS"], max_history_bytes=bound)
    made.config["SETTINGS"] = settings


def test_one_is_not_applied(app: Flask) -> None:
    with second_app(app) as made:
        client = make_account(made)
        record = ready(client, feature(square(1, 1), name="A"))
        with_room(client, made, -1)
        refused = client.post(f"/v1/imports/{record['id']}/apply")
        assert refused.status_code == 403
        assert refused.json["error"]["details"][0]["code"] == "history"
        assert client.get(f"/v1/imports/{record['id']}").json["data"]["status"] == "ready"
        assert client.post(f"/v1/imports/{record['id']}/cancel").status_code == 200


@pytest.mark.both
def test_features_without_room_are_rejected_and_the_rest_is_undone(app: Flask) -> None:
    with second_app(app) as made:
        client = make_account(made)
        known = {"name": "Known", "geometry": square(9, 9)}
        project = make_project(client, **known, description="x" * 5_000)
        record = ready(
            client,
            feature(square(9, 9), name="Known", id_of=project["id"], soil="clay"),
            *(feature(square(number, 1), name=f"New {number}") for number in range(1, 9)),
            match="name",
        )
        assert (record["counts"]["new"], record["counts"]["changed"]) == (8, 1)
        with_room(client, made, 5_000)
        applied = act(client, record, "apply")
        assert applied["status"] == "applied"
        assert 0 < applied["counts"]["new"] < 8
        (problem,) = features_of(client, record, verdict="rejected")[0]["problems"]
        assert problem["message"].startswith("The account's history is full. There is room again")
        undone = act(client, record, "undo")
        assert (undone["status"], undone["counts"]["kept"]) == ("undone", 0)
        assert current(client) == actual(client)
        assert list(projects(client)) == ["Known"]
        assert not projects(client)["Known"]["metadata"]


def test_other_doors_refuse_as_well(app: Flask, tmp_path: Path) -> None:
    with second_app(app) as made:
        client = make_account(made)
        make_project(client, name="A", description="x" * 5_000)
        owner = browser_of(client)
        slug = client.get("/v1/account").json["data"]["slug"]
        with_room(client, made, -1)
        body = {"type": "Feature", "geometry": None, "properties": {"name": "B"}}
        assert client.post("/ogc/collections/projects/items", json=body).status_code == 403
        owner.get("/projects/new")
        page = owner.submit(name="B")
        assert "history is full. There is room again" in page.text
        path = tmp_path / "a.geojson"
        path.write_bytes(collection(feature(square(1, 1), name="B")))
        result = runner(made)("import", str(path), "--account", slug)
        assert result.exit_code == 1
        assert "history is full" in result.output
        assert list(projects(client)) == ["A"]
