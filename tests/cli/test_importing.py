"""``bin/canopy import``: what is imported, and what is already present."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.db.extensions import db
from app.imports import applying
from app.imports.features import project_lookup, project_targets
from tests.cli.conftest import Run
from tests.cli.features import features_file, imported, projects
from tests.make import Client, make_project, square
from tests.make.features import DISTRICTS


def events(client: Client) -> list[dict[str, Any]]:
    with client.app.app_context():
        statement = "SELECT body FROM events WHERE account_id = :account ORDER BY id"
        rows = db.session.execute(db.text(statement), {"account": client.account_id})
        return [json.loads(body) for (body,) in rows]


def test_districts_are_imported_and_a_faulty_one_is_rejected(run: Run, client: Client) -> None:
    document = imported(run, client, DISTRICTS)
    made = projects(client)
    assert document["summary"] == {
        "features": 5,
        "new": 4,
        "changed": 0,
        "same": 0,
        "rejected": 1,
        "left_out": 0,
        "hectares": pytest.approx(sum(one["area_hectares"] for one in made.values())),
        "overlapping": 0,
        "overlapping_hectares": 0,
    }
    assert {one["name"]: one["project_id"] for one in document["new"]} == {
        name: project["id"] for name, project in made.items()
    }
    assert document["name_property"] == "district"
    (rejected,) = document["rejected"]
    assert (rejected["feature"], rejected["name"]) == (1, "Cle Elum Ranger District")
    (problem,) = rejected["problems"]
    assert problem["code"] == "self_intersection"
    assert (problem["part"], problem["ring"], problem["position"]) == (0, 0, 0)
    assert problem["coordinates"] == [-121.17499365, 47.19078204]


def test_a_second_run_imports_nothing(run: Run, client: Client) -> None:
    imported(run, client, DISTRICTS)
    before = projects(client)
    again = imported(run, client, DISTRICTS)
    assert again["summary"] | {"hectares": 0} == {
        "features": 5, "new": 0, "changed": 0, "same": 4, "rejected": 1, "left_out": 0,
        "hectares": 0, "overlapping": 0, "overlapping_hectares": 0,
    }  # fmt: skip
    assert projects(client) == before


def test_people_get_a_table_with_the_rejected_and_their_place(run: Run, client: Client) -> None:
    result = run("import", str(DISTRICTS), "--account", client.account_id)
    assert result.exit_code == 1
    assert "Sandia Ranger District" in result.stdout
    assert "feature 1  Cle Elum Ranger District" in result.stdout
    assert "at -121.17499365, 47.19078204: Part 0, ring 0, position 0: " in result.stdout
    assert "Imported 4 of 5 features" in result.stdout
    assert result.stderr == ""


def test_coordinates_and_attributes_are_those_of_the_file(run: Run, client: Client) -> None:
    imported(run, client, DISTRICTS)
    source = json.loads(DISTRICTS.read_text())["features"]
    cottage_grove = next(f for f in source if f["properties"]["district"].startswith("Cottage"))
    project = projects(client)["Cottage Grove Ranger District"]
    (ring,) = cottage_grove["geometry"]["coordinates"]  # clockwise there
    assert project["geometry"] == {"type": "Polygon", "coordinates": [ring[::-1]]}
    assert project["description"] is None
    assert project["metadata"] == {
        "forest": "Umpqua National Forest",
        "region": "06",
        "gis_acres": 88725.028,
    }


@pytest.mark.both
def test_each_project_has_its_event_by_the_owner(run: Run, client: Client) -> None:
    document = imported(run, client, DISTRICTS)
    emitted = events(client)
    assert [event["type"] for event in emitted] == ["project.created"] * 4
    ids = [one["project_id"] for one in document["new"]]
    assert [event["data"]["id"] for event in emitted] == ids
    assert {event["data"]["created_by"]["id"] for event in emitted} == {client.owner_id}


@pytest.mark.slow
def test_a_dry_run_writes_nothing_and_says_the_same(run: Run, client: Client) -> None:
    planned = imported(run, client, DISTRICTS, "--dry-run")
    assert planned["dry_run"] is True
    assert projects(client) == {}
    assert events(client) == []
    done = imported(run, client, DISTRICTS)
    assert planned["summary"] == done["summary"]
    assert [one["name"] for one in planned["new"]] == [one["name"] for one in done["new"]]
    assert {one["project_id"] for one in planned["new"]} == {None}
    assert imported(run, client, DISTRICTS, "--dry-run")["summary"]["same"] == 4


def test_names_that_repeat_are_numbered(run: Run, client: Client, tmp_path: Path) -> None:
    names = ["Riverside", "Riverside", "Riverside 2", "riverside!"]
    path = features_file(
        tmp_path, *(({"name": name}, square(10 + n, 50)) for n, name in enumerate(names))
    )
    for options in (("--dry-run",), ()):
        document = imported(run, client, path, *options)
        assert [one["name"] for one in document["new"]] == [
            "Riverside", "Riverside (2)", "Riverside 2 (2)", "riverside! (3)",
        ]  # fmt: skip
    assert imported(run, client, path)["summary"]["same"] == 4


def test_a_feature_that_stands_twice_is_imported_once(
    run: Run, client: Client, tmp_path: Path
) -> None:
    path = features_file(tmp_path, *[({"name": "Twin"}, square())] * 2)
    for options in (("--dry-run",), ()):
        summary = imported(run, client, path, *options)["summary"]
        assert (summary["new"], summary["same"]) == (1, 1)


def test_a_name_in_use_gets_a_number(run: Run, client: Client, tmp_path: Path) -> None:
    make_project(client, name="Alpine", geometry=square(1, 1))
    path = features_file(tmp_path, ({"name": "Alpine"}, square(2, 2)))
    imported(run, client, path)
    assert set(projects(client)) == {"Alpine", "Alpine (2)"}
    assert imported(run, client, path)["summary"]["same"] == 1


def test_a_renamed_project_is_still_there(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"name": "Alpine"}, square()))
    (one,) = imported(run, client, path)["new"]
    client.put(f"/v1/projects/{one['project_id']}", json={"name": "Alps"})
    assert imported(run, client, path)["summary"]["same"] == 1


def test_a_feature_without_a_boundary(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"name": "Unlocated"}, None), ({"name": "Placed"}, square()))
    (unlocated, _) = imported(run, client, path)["new"]
    assert unlocated["area_hectares"] is None
    assert projects(client)["Unlocated"]["geometry"] is None
    assert imported(run, client, path)["summary"]["same"] == 2


def test_the_property_of_the_name_can_be_told(run: Run, client: Client) -> None:
    document = imported(run, client, DISTRICTS, "--name-property", "forest")
    assert "Umpqua National Forest" in projects(client)
    assert document["name_property"] == "forest"


def test_an_interrupted_run_goes_on(
    run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C before the third feature is written: two features are in, and stay."""
    monkeypatch.setattr(applying, "BATCH_BYTES", 1)  # so that each is committed by itself
    create, calls = project_targets.create_project, []

    def interrupted(*args: Any, **values: Any) -> Any:
        calls.append(values)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return create(*args, **values)

    monkeypatch.setattr(project_targets, "create_project", interrupted)
    result = run("import", str(DISTRICTS), "--account", client.account_id)
    assert result.exit_code == 1
    assert "Interrupted after 2 features" in result.stderr
    assert len(projects(client)) == 2
    summary = imported(run, client, DISTRICTS)["summary"]
    assert (summary["new"], summary["same"]) == (2, 2)


def test_a_slug_that_is_taken_in_between_gets_the_next_number(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process creates a project after the look and before the write."""
    path = features_file(
        tmp_path, ({"name": "First"}, square(3, 3)), ({"name": "Alpine"}, square(2, 2))
    )
    make_project(client, name="Alpine", geometry=square(1, 1))
    has_slug, looks = project_lookup.has_slug, []

    def blind_twice(account_id: str, slug: str) -> bool:
        """When the file is read, and when it is written."""
        if slug == "alpine" and len(looks) < 2:
            looks.append(slug)
            return False
        return has_slug(account_id, slug)

    monkeypatch.setattr(project_lookup, "has_slug", blind_twice)
    document = imported(run, client, path)
    assert [one["name"] for one in document["new"]] == ["First", "Alpine (2)"]
    assert set(projects(client)) == {"First", "Alpine", "Alpine (2)"}


def test_features_are_left_out_by_their_numbers(run: Run, client: Client) -> None:
    document = imported(run, client, DISTRICTS, "--leave-out", "1, 3")
    assert (document["summary"]["new"], document["summary"]["left_out"]) == (3, 2)
    assert [one["feature"] for one in document["left_out"]] == [1, 3]
    assert document["rejected"] == []
    assert len(projects(client)) == 3
    result = run("import", str(DISTRICTS), "--account", client.account_id, "--leave-out", "3")
    assert "3 same, 1 rejected, 1 left out" in result.stdout
    document = imported(run, client, DISTRICTS, "--dry-run", "--name", "2=Brice")
    assert "Brice" in [one["name"] for one in document["new"]]


def test_unknown_features_cannot_be_left_out(run: Run, client: Client) -> None:
    words = ("import", str(DISTRICTS), "--account", client.account_id)
    for option, value, message in (
        ("--leave-out", "6", "--leave-out: the file has no feature 6."),
        ("--leave-out", "1,x", "'1,x' is no list of numbers"),
        ("--name", "6=Brice", "--name: the file has no feature 6."),
        ("--name", "Brice", "'Brice' is no number and name, such as 1=Brice."),
        ("--name", "1= ", "Must have 1 to 200 characters."),
    ):
        result = run(*words, option, value)
        assert result.exit_code != 0
        assert message in result.stderr
    assert projects(client) == {}
