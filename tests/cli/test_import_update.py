"""``bin/canopy import``: files that come again, changed or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.features import features_file, imported, projects
from tests.geometry.test_sameness import rounded
from tests.make import Client, event_types, events, make_asset, make_project, point, square
from tests.make.features import DISTRICTS


def counts(document: dict[str, Any]) -> tuple[int, ...]:
    """The numbers of new, changed, same and rejected features."""
    summary = document["summary"]
    return tuple(summary[name] for name in ("new", "changed", "same", "rejected"))


def rounded_districts(folder: Path) -> Path:
    """The districts as GDAL writes them."""
    document = json.loads(DISTRICTS.read_text())
    for feature in document["features"]:
        feature["geometry"]["coordinates"] = rounded(feature["geometry"]["coordinates"])
    path = folder / "rounded.geojsonl"
    path.write_text("\n".join(json.dumps(feature) for feature in document["features"]))
    return path


def test_what_was_rounded_to_seven_decimals_changes_nothing(
    run: Run, client: Client, tmp_path: Path
) -> None:
    imported(run, client, DISTRICTS)
    before = projects(client)
    for options in ((), ("--update", "--match", "name")):
        document = imported(run, client, rounded_districts(tmp_path), *options)
        assert counts(document) == (0, 0, 4, 1)
        assert document["warnings"] == []
    assert projects(client) == before
    assert event_types(client) == ["project.created"] * 4


def test_another_boundary_of_a_known_name_is_warned_of(
    run: Run, client: Client, tmp_path: Path
) -> None:
    make_project(client, name="Alpine", geometry=square(1, 1))
    path = features_file(
        tmp_path,
        ({"name": "ALPINE"}, square(2, 2)),
        ({"name": "Twice"}, square(3, 3)),
        ({"name": "Twice"}, square(4, 4)),  # of this file alone: meant so
    )
    document = imported(run, client, path, "--dry-run")
    assert counts(document) == (3, 0, 0, 0)
    (warning,) = document["warnings"]
    head = "1 feature has the name of an existing project, but another boundary."
    assert warning.startswith(head)
    assert "--update --match name" in warning
    shown = run("import", str(path), "--account", client.account_id, "--dry-run")
    assert "Warning: 1 feature" in shown.stderr
    assert counts(imported(run, client, path)) == (3, 0, 0, 0)


def test_other_attributes_of_a_known_feature_are_warned_of(
    run: Run, client: Client, tmp_path: Path
) -> None:
    rows = [{"name": "Alpine", "age": 80}, {"name": "Valley", "age": 90}]
    shapes = [square(1, 1), square(2, 2)]
    imported(run, client, features_file(tmp_path, *zip(rows, shapes, strict=True)))
    before = projects(client)
    path = features_file(tmp_path, (rows[0] | {"age": 81}, shapes[0]), (rows[1], shapes[1]))
    document = imported(run, client, path)
    assert counts(document) == (0, 0, 2, 0)
    assert projects(client) == before
    (warning,) = document["warnings"]
    assert warning == (
        "1 feature has the name and boundary of an existing project, but other attributes. The "
        "project is left unchanged. To update it, import with --update --match name."
    )


@pytest.mark.slow
def test_an_import_beyond_the_plan_is_warned_of(run: Run, client: Client, tmp_path: Path) -> None:
    run("account", "update", client.account_id, "--plan", "free")
    path = features_file(tmp_path, ({"name": "Alpine"}, square(1, 1, 1)))
    planned = imported(run, client, path, "--dry-run")
    (warning,) = imported(run, client, path)["warnings"]
    hectares = client.get("/v1/account").json["data"]["usage"]["hectares"]
    more = "more than the 1,000 ha of its plan, free."
    assert f"has {hectares:,.4f} ha now, {more}" in warning
    assert "--plan pro" in warning
    assert f"would have {hectares:,.4f} ha, {more}" in planned["warnings"][0]
    assert (planned["hectares"]["account"], planned["hectares"]["limit"]) == (hectares, 1000)
    assert imported(run, client, path)["warnings"] == []  # it wrote nothing


@pytest.mark.slow
def test_update_by_name_changes_boundary_and_metadata(
    run: Run, client: Client, tmp_path: Path
) -> None:
    kept = {"warden": "Jo", "age": 80}
    project = make_project(client, name="Alpine", geometry=square(1, 1), metadata=kept)
    path = features_file(
        tmp_path,
        ({"name": "alpine", "age": 90, "soil": ["loam", None]}, square(2, 2)),
        ({"name": "New", "age": 1}, square(3, 3)),
    )
    planned = imported(run, client, path, "--update", "--match", "name", "--dry-run")
    assert counts(planned) == (1, 1, 0, 0)
    assert set(projects(client)) == {"Alpine"}
    document = imported(run, client, path, "--update", "--match", "name")
    assert document["summary"] == planned["summary"]
    (changed,) = document["changed"]
    assert changed["project_id"] == project["id"]
    assert changed["previous_area_hectares"] == project["area_hectares"]
    assert changed["changes"] == ["geometry", "metadata"]
    after = projects(client)
    assert set(after) == {"Alpine", "New"}
    assert after["Alpine"]["geometry"] == square(2, 2)
    assert after["Alpine"]["area_hectares"] == changed["area_hectares"]
    assert after["Alpine"]["metadata"] == {"warden": "Jo", "age": 90, "soil": ["loam", None]}
    updated = next(event for event in events(client) if event["type"] == "project.updated")
    assert set(updated["data"]["changes"]) == {"geometry", "area_hectares", "metadata"}
    assert updated["data"]["updated_by"]["id"] == client.owner_id
    before = event_types(client)
    assert counts(imported(run, client, path, "--update", "--match", "name")) == (0, 0, 2, 0)
    assert event_types(client) == before


@pytest.mark.slow
def test_update_by_external_id_is_how_a_file_is_kept_in_step(
    run: Run, client: Client, tmp_path: Path
) -> None:
    first = features_file(
        tmp_path,
        ({"External_ID": 7, "name": "Riverside", "age": 1}, square(1, 1)),
        ({"External_ID": "8", "name": "Riverside", "age": 2}, square(2, 2)),
        ({"External_ID": "", "name": "Nameless"}, square(3, 3)),
    )
    document = imported(run, client, first)
    assert document["external_id_property"] == "External_ID"
    assert counts(document) == (3, 0, 0, 0)
    made = projects(client)
    assert [made[name]["external_id"] for name in ("Riverside", "Riverside (2)", "Nameless")] == [
        "7", "8", None,
    ]  # fmt: skip
    assert made["Riverside"]["metadata"] == {"age": 1}
    for options in ((), ("--update",)):  # by external_id, as the file has them
        assert counts(imported(run, client, first, *options)) == (0, 0, 3, 0)
    second = features_file(
        tmp_path,
        ({"External_ID": "7", "name": "Riverside East", "age": 1}, square(1, 1)),
        ({"External_ID": "8", "name": "Riverside", "age": 2}, square(5, 5)),
        ({"External_ID": "9", "name": "Riverside"}, square(6, 6)),
    )
    document = imported(run, client, second, "--update")
    assert counts(document) == (1, 2, 0, 0)
    assert [one["changes"] for one in document["changed"]] == [["name"], ["geometry"]]
    after = {project["external_id"]: project for project in projects(client).values()}
    assert after["7"]["id"] == made["Riverside"]["id"]
    assert (after["7"]["name"], after["7"]["slug"]) == ("Riverside East", "riverside")
    assert after["8"]["geometry"] == square(5, 5)
    assert after["9"]["name"] == "Riverside (3)"
    assert counts(imported(run, client, second, "--update")) == (0, 0, 3, 0)


@pytest.mark.both
def test_without_update_a_known_external_id_is_rejected(
    run: Run, client: Client, tmp_path: Path
) -> None:
    project = make_project(client, name="Alpine", geometry=square(), external_id="A-1")
    path = features_file(tmp_path, ({"name": "Alpine", "external_id": "A-1"}, square(2, 2)))
    for options in ((), ("--dry-run",)):
        (rejected,) = imported(run, client, path, *options)["rejected"]
        (problem,) = rejected["problems"]
        assert (problem["code"], problem["field"]) == ("conflict", "external_id")
        assert project["id"] in problem["message"]
        assert "match by external_id" in problem["message"]
    assert list(projects(client)) == ["Alpine"]


def test_a_project_from_before_is_given_its_external_id(
    run: Run, client: Client, tmp_path: Path
) -> None:
    project = make_project(client, name="Alpine", geometry=square())
    path = features_file(tmp_path, ({"NAME": "Alpine", "KEY": 12}, square()))
    document = imported(run, client, path, "--external-id", "KEY", "--update")
    assert [one["changes"] for one in document["changed"]] == [["external_id"]]
    after = projects(client)["Alpine"]
    assert (after["id"], after["external_id"]) == (project["id"], "12")
    assert after["metadata"] is None


def test_an_external_id_that_is_not_free_is_rejected(
    run: Run, client: Client, tmp_path: Path
) -> None:
    other = make_project(client, name="Other", geometry=square(9, 9), external_id="taken")
    make_project(client, name="Alpine", geometry=square())
    path = features_file(
        tmp_path,
        ({"name": "Alpine", "external_id": "taken"}, square(2, 2)),
        ({"name": "First", "external_id": "new"}, square(3, 3)),
        ({"name": "Second", "external_id": "new"}, square(4, 4)),
    )
    document = imported(run, client, path, "--update", "--match", "name")
    assert counts(document) == (1, 0, 0, 2)
    messages = [one["problems"][0]["message"] for one in document["rejected"]]
    assert messages == [
        f"The project {other['id']} (Other) already has this external id.",
        "Feature 2 has the same external id.",
    ]


def test_a_name_that_repeats_in_the_file_matches_nothing(
    run: Run, client: Client, tmp_path: Path
) -> None:
    """Which of the features would be the project is anybody's guess."""
    project = make_project(client, name="Stand", geometry=square(1, 1))
    path = features_file(
        tmp_path,
        ({"name": "Stand"}, square(2, 2)),
        ({"name": "stand"}, square(1, 1)),
        ({"name": "Other"}, square(3, 3)),
    )
    document = imported(run, client, path, "--update", "--match", "name")
    assert counts(document) == (1, 0, 1, 1)
    (message,) = (problem["message"] for problem in document["rejected"][0]["problems"])
    assert message.startswith("Several features have this name")
    assert projects(client)["Stand"]["geometry"] == project["geometry"]


def test_a_feature_without_a_boundary_leaves_that_of_the_project(
    run: Run, client: Client, tmp_path: Path
) -> None:
    project = make_project(client, name="Alpine", geometry=square())
    path = features_file(tmp_path, ({"name": "Alpine", "age": 3}, None))
    options = ("--update", "--match", "name", "--without-boundaries")
    document = imported(run, client, path, *options)
    assert [one["changes"] for one in document["changed"]] == [["metadata"]]
    assert projects(client)["Alpine"]["geometry"] == project["geometry"]


def test_people_see_what_changes(run: Run, client: Client, tmp_path: Path) -> None:
    make_project(client, name="Alpine", geometry=square(1, 1))
    path = features_file(tmp_path, ({"name": "Alpine", "age": 3}, square(2, 2)))
    arguments = ("import", str(path), "--account", client.account_id, "--update", "--match", "name")
    planned = run(*arguments, "--dry-run").stdout
    assert "Would change:" in planned
    assert "Would import 1 of 1 features" in planned
    done = run(*arguments).stdout
    assert "geometry metadata" in done
    assert "0 new, 1 changed, 0 same, 0 rejected" in done


def test_options_that_do_not_go_together(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"name": "Alpine"}, square()))
    for options, said in (
        (("--match", "name"), "add --update"),
        (("--update", "--match", "none"), "--match external_id or --match name"),
        (("--update",), "No column holds external ids"),
        (("--external-id", "KEY"), "no column 'KEY'"),
        (("--attribute", "soil"), "no column 'soil'"),
    ):
        result = run("import", str(path), "--account", client.account_id, *options)
        assert (result.exit_code in (1, 2), result.stdout) == (True, "")
        assert said in " ".join(result.stderr.split())


def test_assets_are_updated_by_their_external_ids(run: Run, client: Client, tmp_path: Path) -> None:
    project_id = make_project(client)["id"]
    asset = make_asset(client, project_id, name="Old", external_id="7", location=point(1))
    path = features_file(
        tmp_path, ({"name": "Trap", "no": 7}, point(1)), ({"name": "Trap", "no": 8}, point(2))
    )
    words = ("--project", project_id, "--external-id", "no", "--update")
    document = imported(run, client, path, *words)
    assert (counts(document), document["match"]) == ((1, 1, 0, 0), "external_id")
    found = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    assert {each["external_id"]: each["name"] for each in found} == {"7": "Trap", "8": "Trap"}
    assert asset["id"] in {each["id"] for each in found}
