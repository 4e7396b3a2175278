"""Assets that features match by their external ids, as projects do (docs/imports.md)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.imports.making import act, counts, features_of, ready, upload
from tests.make import Client, event_types, make_asset, make_project, point
from tests.make.features import collection, feature


@pytest.fixture
def project_id(client: Client) -> str:
    return make_project(client)["id"]


def _ready(client: Client, project_id: str, *features: Any, **form: Any) -> dict[str, Any]:
    return ready(client, *features, kind="assets", project_id=project_id, **form)


def _assets(client: Client, project_id: str) -> dict[str, dict[str, Any]]:
    found = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    return {each["name"]: each for each in found}


@pytest.mark.both
def test_a_column_of_external_ids_is_read_and_matched(client: Client, project_id: str) -> None:
    known = make_asset(client, project_id, name="Old", external_id="T-1", location=point(1))
    make_asset(client, make_project(client)["id"], name="Elsewhere", external_id="T-2")
    record = _ready(
        client,
        project_id,
        feature(point(3), name="Renamed", External_ID="T-1", soil="loam"),
        feature(point(2), name="New", External_ID="T-2"),
    )
    assert (record["mapping"]["external_id"], record["match"]) == ("External_ID", "external_id")
    assert counts(record) == (1, 1, 0, 0)
    (changed,) = features_of(client, record, verdict="changed")
    assert changed["changes"] == ["name", "location", "metadata"]
    done = act(client, record, "apply")
    assert done["status"] == "applied"
    made = _assets(client, project_id)
    assert {name: each["external_id"] for name, each in made.items()} == {
        "Renamed": "T-1", "New": "T-2",
    }  # fmt: skip
    assert made["Renamed"]["id"] == known["id"]
    assert made["Renamed"]["metadata"] == {"soil": "loam"}


def test_the_same_file_again_changes_nothing(client: Client, project_id: str) -> None:
    features = [feature(point(n), name="Trap", external_id=f"T-{n}") for n in range(3)]
    act(client, _ready(client, project_id, *features), "apply")
    before = event_types(client)
    record = _ready(client, project_id, *features)
    assert counts(record) == (0, 0, 3, 0)
    act(client, record, "cancel")
    assert event_types(client) == before


def test_an_asset_without_one_gets_that_of_its_feature(client: Client, project_id: str) -> None:
    """And one with another is another asset, though it has the same name and place."""
    known = make_asset(client, project_id, name="Trap", location=point())
    record = _ready(
        client,
        project_id,
        feature(point(), name="Trap", external_id="T-1"),
        feature(point(), name="Trap", external_id="T-2"),
    )
    assert counts(record) == (1, 1, 0, 0)
    act(client, record, "apply")
    found = client.get(f"/v1/projects/{project_id}/assets").json["data"]
    assert {each["external_id"] for each in found} == {"T-1", "T-2"}
    (changed,) = (each for each in found if each["external_id"] == "T-1")
    assert changed["id"] == known["id"]


def test_two_features_do_not_share_one(client: Client, project_id: str) -> None:
    record = _ready(
        client,
        project_id,
        feature(point(1), name="A", external_id="T-1"),
        feature(point(2), name="B", external_id="T-1"),
        feature(point(1), name="A", external_id="T-1"),
    )
    assert counts(record) == (1, 0, 1, 1)
    (rejected,) = features_of(client, record, verdict="rejected")
    (problem,) = rejected["problems"]
    assert (problem["field"], problem["message"]) == (
        "external_id", "Feature 1 has the same external id.",
    )  # fmt: skip


@pytest.mark.parametrize("match", ["none", "name"])
def test_that_of_another_asset_is_rejected(client: Client, project_id: str, match: str) -> None:
    other = make_asset(client, project_id, name="Other", external_id="T-1", location=point(9))
    named = make_asset(client, project_id, name="A", location=point(8))
    features = [
        feature(point(1), name="A", external_id="T-1"),
        feature(point(9), name="Other", external_id="T-1", soil="loam"),
    ]
    record = _ready(client, project_id, features[0], match=match)
    assert counts(record) == (0, 0, 0, 1)
    message = features_of(client, record)[0]["problems"][0]["message"]
    hint = " To change it, match by external_id." if match == "none" else ""
    assert message == f"The asset {other['id']} (Other) already has this external id.{hint}"
    record = _ready(client, project_id, features[1], match=match)
    assert counts(record) == ((0, 0, 1, 0) if match == "none" else (0, 1, 0, 0))
    assert _assets(client, project_id)["A"] == named


def test_without_such_a_column_nothing_matches_by_it(client: Client, project_id: str) -> None:
    record = _ready(client, project_id, feature(point(), name="A"))
    assert record["match"] == "none"
    assert "external_id" not in record["mapping"]
    record = _ready(client, project_id, feature(point(), name="A"), match="external_id")
    assert record["status"] == "failed"
    assert record["message"].startswith("No column holds external ids.")


@pytest.mark.both
def test_one_that_was_taken_meanwhile_is_rejected(client: Client, project_id: str) -> None:
    record = _ready(
        client,
        project_id,
        feature(point(1), name="A", external_id="T-1"),
        feature(point(2), name="B", external_id="T-2"),
        match="none",
    )
    other = make_asset(client, project_id, name="Other", external_id="T-1")
    done = act(client, record, "apply")
    assert counts(done) == (1, 0, 0, 1)
    (rejected,) = features_of(client, done, verdict="rejected")
    assert other["id"] in rejected["problems"][0]["message"]
    assert set(_assets(client, project_id)) == {"Other", "B"}


def test_an_undo_gives_the_former_one_back(client: Client, project_id: str) -> None:
    make_asset(client, project_id, name="A", external_id="T-1")
    make_asset(client, project_id, name="B", external_id="T-2")
    features = [
        feature(point(1), name="A", external_id="T-3"),
        feature(point(2), name="B", external_id="T-4"),
    ]
    done = act(client, _ready(client, project_id, *features, match="name"), "apply")
    assert counts(done) == (0, 2, 0, 0)
    other = make_asset(client, project_id, name="C", external_id="T-1")
    done = act(client, done, "undo")
    assert (done["counts"]["undone"], done["counts"]["kept"]) == (1, 1)
    found = {name: each["external_id"] for name, each in _assets(client, project_id).items()}
    assert found == {"A": "T-3", "B": "T-2", "C": "T-1"}
    (kept,) = features_of(client, done, state="kept")
    assert other["id"] in kept["problems"][0]["message"]


def test_a_field_of_the_other_kind_is_named(client: Client, project_id: str) -> None:
    content = collection(feature(point(), name="A"))
    form = {"kind": "assets", "project_id": project_id, "mapping": {"description": "name"}}
    refused = upload(client, content, **form)
    assert refused.status_code == 422
    (detail,) = refused.json["error"]["details"]
    assert detail["message"] == (
        "Assets have no description. Their fields are: name, external_id, type, status."
    )
