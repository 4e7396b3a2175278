"""Features that are left out of an import, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from app.policy.files import FEATURES
from tests.imports.making import act, counts, features_of, projects, read, ready, upload, work
from tests.make import Client, make_project, point, square
from tests.make.features import collection, feature


def three(client: Client, **form: Any) -> dict[str, Any]:
    """An import with two new features and one that changes Old."""
    make_project(client, name="Old", geometry=square(12, size=0.2))
    return ready(
        client,
        *(feature(square(10 + n), name=name) for n, name in enumerate(["A", "B", "Old"])),
        match="name",
        **form,
    )


def leave_out(client: Client, record: dict[str, Any], numbers: Any) -> dict[str, Any]:
    response = client.put(f"/v1/imports/{record['id']}", json={"left_out": numbers})
    assert response.status_code == 200, response.json
    found: dict[str, Any] = response.json["data"]
    return found


def marked(client: Client, record: dict[str, Any], **query: str) -> list[tuple[Any, ...]]:
    found = features_of(client, record, **query)
    return [(each["number"], each["verdict"], each["left_out"]) for each in found]


@pytest.mark.both
def test_features_are_left_out_at_once_and_not_written(client: Client) -> None:
    record = three(client)
    before = record["hectares"]
    record = leave_out(client, record, [3, 1, 3])
    assert (record["status"], record["left_out"]) == ("ready", [1, 3])
    assert (counts(record), record["counts"]["left_out"]) == ((1, 0, 0, 0), 2)
    assert record["hectares"]["before"] == 0 < before["before"]
    assert marked(client, record) == [(1, "new", True), (2, "new", False), (3, "changed", True)]
    assert marked(client, record, left_out="true", verdict="new") == [(1, "new", True)]
    assert marked(client, record, left_out="false") == [(2, "new", False)]
    record = act(client, record, "apply")
    assert set(projects(client)) == {"B", "Old"}
    assert (counts(record), record["counts"]["left_out"]) == ((1, 0, 0, 0), 2)
    assert record["progress"] == {"done": 1, "total": 1}
    assert set(record["counts"]) >= {"undone"}
    record = act(client, record, "undo")
    assert set(projects(client)) == {"Old"}
    assert (record["counts"]["undone"], record["left_out"]) == (1, [1, 3])


@pytest.mark.both
def test_features_are_renamed(client: Client, subtests: pytest.Subtests) -> None:
    record = ready(client, *(feature(square(10 + n), name=name) for n, name in enumerate("AB")))

    def put(**body: Any) -> dict[str, Any]:
        response = client.put(f"/v1/imports/{record['id']}", json=body)
        work(client)
        return {"status": response.status_code} | response.json

    assert put(names={"2": " Brice "})["status"] == 200
    assert put(match="none")["status"] == 200  # keeps the names
    found = read(client, record["id"])
    assert found["names"] == {"2": "Brice"}
    assert [each["name"] for each in features_of(client, found)] == ["A", "Brice"]
    for body, message in (
        ({"names": {"3": "C"}}, "The import has no feature 3."),
        ({"names": {"x": "C"}}, "Must be the number of a feature."),
        ({"names": {"1": ""}}, "Must have 1 to 200 characters."),
        ({"names": {"1": "x" * 201}}, "Must have 1 to 200 characters."),
        ({"names": {str(n): "x" for n in range(1, 1_002)}}, "Must have at most 1,000 names."),
        ({"names": {"1": "C"}, "kind": "projects"}, "These choices change the features."),
    ):
        with subtests.test(message):
            refused = put(**body)
            assert refused["status"] == 422
            assert refused["error"]["details"][0]["field"].startswith("names")
            assert message in refused["error"]["details"][0]["message"]
    act(client, record, "apply")
    assert set(projects(client)) == {"A", "Brice"}
    again = ready(client, feature(square(20), name="D"))
    for names, shown in (({"1": "E"}, "E"), (None, "D"), ({"1": "E"}, "E"), ({}, "D")):
        client.put(f"/v1/imports/{again['id']}", json={"names": names})
        work(client)
        assert [each["name"] for each in features_of(client, again)] == [shown]


def test_they_are_taken_back_in(client: Client) -> None:
    record = leave_out(client, three(client), [1, 2])
    record = leave_out(client, record, [2])
    assert marked(client, record, left_out="true") == [(2, "new", True)]
    for none in (None, []):
        record = leave_out(client, record, none)
        assert (record["left_out"], counts(record)) == ([], (2, 1, 0, 0))
    assert record["hectares"]["before"] > 0


def test_they_stay_left_out_when_the_file_is_read_again(client: Client) -> None:
    record = leave_out(client, three(client), [3])
    path = f"/v1/imports/{record['id']}"
    client.put(path, json={"match": "none"})
    work(client)
    record = read(client, record["id"])
    assert (record["left_out"], counts(record)) == ([3], (2, 0, 0, 0))
    assert marked(client, record, left_out="true") == [(3, "new", True)]
    client.put(path, json={"match": "name", "left_out": [1]})
    work(client)
    assert marked(client, record, left_out="true") == [(1, "new", True)]
    client.put(path, json={"layer": record["layer"]})
    work(client)
    assert read(client, record["id"])["left_out"] == []
    assert marked(client, record, left_out="true") == []


def test_wrong_numbers_are_refused(client: Client) -> None:
    record = three(client)
    for body, message in (
        ({"left_out": [1, 4]}, "The import has no feature 4."),
        ({"left_out": [9_999], "match": "none"}, "The import has no feature 9999."),
        ({"left_out": [1], "layer": "a"}, "These choices change the features."),
        ({"left_out": [*range(1, FEATURES + 1)]}, "The import has no feature 4."),
    ):
        response = client.put(f"/v1/imports/{record['id']}", json=body)
        assert response.status_code == 422
        (detail, *_) = response.json["error"]["details"]
        assert detail["field"].startswith("left_out")
        assert message in detail["message"]
    assert read(client, record["id"]) == record


def test_only_those_of_a_ready_import_are_left_out(client: Client) -> None:
    response = upload(client, collection(feature(square(), name="A")))
    path = f"/v1/imports/{response.json['data']['id']}"
    assert client.put(path, json={"left_out": []}).status_code == 409
    work(client)
    record = act(client, read(client, response.json["data"]["id"]), "apply")
    assert record["status"] == "applied"
    assert client.put(path, json={"left_out": [1]}).status_code == 409


def test_features_without_a_boundary_count_only_if_they_are_written(client: Client) -> None:
    record = ready(client, feature(None, name="A"), feature(None, name="B"), feature(square()))
    assert record["counts"]["without_boundary"] == 2
    record = leave_out(client, record, [1, 3])
    assert record["counts"]["without_boundary"] == 1
    assert act(client, record, "apply")["counts"]["without_boundary"] == 1


def test_all_assets_but_one(client: Client) -> None:
    project = make_project(client)["id"]
    places = [feature(point(10, 50 + n), name=f"P{n}") for n in range(3)]
    record = ready(client, *places, kind="assets", project_id=project)
    record = act(client, leave_out(client, record, [1, 2]), "apply")
    assets = client.get(f"/v1/projects/{project}/assets").json["data"]
    assert [each["name"] for each in assets] == ["P2"]


def test_the_keys_of_metadata_that_change_are_told(client: Client) -> None:
    make_project(client, name="A", geometry=square(), metadata={"owner": "x", "kept": 1})
    columns = {"owner": "y", "kept": 1, "added": 2}
    record = ready(client, feature(square(), name="A", **columns), match="name")
    (found,) = features_of(client, record)
    assert (found["changes"], found["metadata_changes"]) == (["metadata"], ["owner", "added"])
