"""What can be done with an import that has failed, and what is left of it."""

from __future__ import annotations

import io
from collections import Counter
from itertools import count
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.db.extensions import db
from app.db.transactions import transaction
from app.formats.readers.kml import ALL_FOLDERS
from app.http.errors import Conflict
from app.imports import applying, leases, preview, service, steps
from app.imports.features import targets
from app.imports.features.reader_process import ReaderProcess, TooCostly
from app.imports.features.reader_program import TOO_SLOW
from app.imports.jobs import delete_imports
from app.imports.listing import replaceable_import
from app.models import Import, ImportFeature, ImportFile
from app.policy.imports import BATCH_FEATURES, DECIDE_SECONDS, UNFINISHED_IMPORTS
from tests.imports.making import act, features_of, projects, read, ready, upload, work
from tests.make import (
    Client,
    make_account,
    make_import,
    make_key,
    make_project,
    operator_of,
    point,
    square,
    together,
)
from tests.make.features import collection, feature
from tests.make.imports import make_asset_import


def stored(client: Client, model: Any) -> int:
    """How many rows of the account a table has."""
    found = select(func.count()).select_from(model).where(model.account_id == client.account_id)
    with client.app.app_context():
        return int(db.session.scalar(found) or 0)


def fail_all(client: Client) -> None:
    """Make all imports of the account fail."""
    own = update(Import).where(Import.account_id == client.account_id)
    with client.app.app_context(), transaction():
        db.session.execute(own.values(status="failed"))


def failed(client: Client, content: bytes, **form: Any) -> dict[str, Any]:
    import_id = upload(client, content, **form).json["data"]["id"]
    work(client)
    record = read(client, import_id)
    assert record["status"] == "failed"
    return record


def refusal(client: Client, record: dict[str, Any], action: str = "") -> str:
    path = f"/v1/imports/{record['id']}"
    if action:
        response = client.post(f"{path}/{action}")
    else:
        response = client.put(path, json={"match": "none"})
    assert response.status_code == 409, response.json
    message: str = response.json["error"]["message"]
    return message


@pytest.fixture
def half_applied(client: Client, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An import that failed after its first transaction."""
    features = [feature(square(n), name=f"P{n}") for n in range(BATCH_FEATURES + 1)]
    record = ready(client, *features)
    update_features = applying.update_features

    def fail_late(account_id: str, import_id: str, changes: Any) -> None:
        if any(number > BATCH_FEATURES for number, _ in changes):
            raise ZeroDivisionError
        update_features(account_id, import_id, changes)

    with monkeypatch.context() as patch:
        patch.setattr(applying, "update_features", fail_late)
        patch.setattr(leases, "LEASE_SECONDS", 0)
        record = act(client, record, "apply")
    assert record["status"] == "failed"
    assert client.get("/v1/projects?per_page=1").json["meta"]["total"] == BATCH_FEATURES
    return record


@pytest.mark.slow
def test_what_was_written_before_a_failure_can_be_undone(
    client: Client, half_applied: dict[str, Any]
) -> None:
    written = "This import has written some features before it failed. Undo it first."
    assert refusal(client, half_applied) == written
    assert refusal(client, half_applied, "cancel") == written
    done = act(client, half_applied, "undo")
    assert (done["status"], done["counts"]["undone"]) == ("undone", BATCH_FEATURES)
    assert projects(client) == {}
    assert stored(client, ImportFile) == 0


def test_an_undo_that_failed_at_its_end_is_undone_again(client: Client) -> None:
    record = act(client, ready(client, feature(square(), name="Alpine")), "apply")
    record = act(client, record, "undo")
    fail_all(client)
    assert act(client, record, "undo")["status"] == "undone"


def test_a_file_that_cannot_be_opened_is_deleted(client: Client) -> None:
    record = failed(client, b"PK\x03\x04")
    assert stored(client, ImportFile) == 0
    assert refusal(client, record) == "The file of this import was deleted. Import it again."


def test_a_file_without_the_chosen_layer_is_kept(client: Client) -> None:
    record = failed(client, collection(feature(square(), name="Alpine")), layer="Other")
    layer = record["message"].rpartition(": ")[2].rstrip(".")
    client.put(f"/v1/imports/{record['id']}", json={"layer": layer})
    work(client)
    assert read(client, record["id"])["status"] == "ready"


def test_an_import_that_failed_counts_while_it_has_its_file(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = collection(feature(square(), name="Alpine"))
    record = failed(client, content, mapping={"name": "NAMN"})
    failed(client, b"no file")
    monkeypatch.setattr("app.imports.listing.UNFINISHED_IMPORTS", 1)
    with client.app.app_context():
        assert replaceable_import(operator_of(client)) == record["id"]
    act(client, record, "cancel")
    with client.app.app_context():
        assert replaceable_import(operator_of(client)) is None


@pytest.mark.both
def test_the_oldest_that_failed_gives_way(client: Client) -> None:
    ids = [make_import(client) for _ in range(UNFINISHED_IMPORTS)]
    fail_all(client)
    assert upload(client, collection(feature(square(), name="Alpine"))).status_code == 202
    refused = client.put(f"/v1/imports/{ids[0]}", json={"match": "none"})
    assert (refused.status_code, refused.json["error"]["details"][0]["code"]) == (
        409,
        "file_deleted",
    )
    assert client.put(f"/v1/imports/{ids[1]}", json={"match": "none"}).status_code == 200


def test_the_oldest_that_nobody_applied_gives_way(client: Client) -> None:
    ids = [make_import(client) for _ in range(UNFINISHED_IMPORTS)]
    assert upload(client, collection(feature(square(), name="Alpine"))).status_code == 202
    statuses = [read(client, import_id)["status"] for import_id in ids]
    assert statuses == ["canceled", *["ready"] * (UNFINISHED_IMPORTS - 1)]


def test_an_import_gives_way_to_those_who_may_cancel_it(client: Client) -> None:
    project, other = make_project(client), make_project(client)
    for _ in range(UNFINISHED_IMPORTS):
        make_asset_import(client, project["id"])
    limited = make_key(client, permissions=["assets:write"], project_ids=[other["id"]])
    content = collection(feature(point(), name="B"))
    refused = upload(limited, content, kind="assets", project_id=other["id"])
    assert (refused.status_code, refused.json["error"]["details"][0]["code"]) == (
        409,
        "limit_reached",
    )
    assert upload(client, content, kind="assets", project_id=other["id"]).status_code == 202


def test_a_file_is_deleted_if_no_import_comes_of_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have begun imports while it was stored."""

    def refuse(*_: Any, **choices: Any) -> None:
        assert stored(client, ImportFile) == 1
        raise Conflict("wrong_status", "", "")

    monkeypatch.setattr(service, "check_new_import", refuse)
    assert upload(client, collection(feature(square()))).status_code == 409
    assert stored(client, ImportFile) == 0


@pytest.mark.both
def test_uploads_at_once_with_one_key_leave_one_file(client: Client) -> None:
    content, headers = collection(feature(square())), {"Idempotency-Key": "at once"}

    def send() -> int:
        data = {"file": (io.BytesIO(content), "a.geojson")}
        return client.post("/v1/imports", data=data, headers=headers).status_code

    assert set(together(send, send, send)) <= {202, 409}
    assert (stored(client, Import), stored(client, ImportFile)) == (1, 1)


@pytest.mark.both
def test_of_uploads_at_once_as_many_are_taken_as_may_be_unfinished(client: Client) -> None:
    content = collection(feature(square()))
    statuses = Counter(together(*[lambda: upload(client, content).status_code] * 16))
    assert statuses == {202: UNFINISHED_IMPORTS, 409: 16 - UNFINISHED_IMPORTS}
    assert (stored(client, Import), stored(client, ImportFile)) == (UNFINISHED_IMPORTS,) * 2


@pytest.mark.both
def test_canceling_deletes_the_file_and_the_features(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    assert (stored(client, ImportFile), stored(client, ImportFeature)) == (1, 1)
    act(client, record, "cancel")
    with client.app.app_context():
        for _ in range(5):  # each run ends after 10 seconds, and begins with other tests' imports
            delete_imports()
    assert (stored(client, ImportFile), stored(client, ImportFeature)) == (0, 0)
    assert features_of(client, record) == []


def test_a_file_that_is_read_again_counts_anew(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    assert record["counts"]["new"] == 1
    url = f"/v1/imports/{record['id']}"
    changed = client.put(url, json={"mapping": {"name": "NAMN"}}).json["data"]
    assert (changed["counts"]["new"], changed["hectares"]["after"]) == (0, 0.0)
    assert changed["progress"] == {"done": 0, "total": 0}
    work(client)
    again = read(client, record["id"])
    assert (again["status"], again["counts"]["new"]) == ("failed", 0)


def test_a_change_names_the_states_that_allow_it(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    act(client, record, "cancel")
    message = "Only a ready or failed import can be changed. This one is canceled."
    assert refusal(client, record) == message


def test_an_import_that_wrote_nothing_has_nothing_to_undo(client: Client) -> None:
    act(client, ready(client, feature(square(), name="Alpine")), "apply")
    record = act(client, ready(client, feature(square(), name="Alpine")), "apply")
    assert (record["status"], record["counts"]["same"]) == ("applied", 1)
    message = "This import wrote nothing, so there is nothing to undo."
    assert refusal(client, record, "undo") == message


def costly(client: Client, content: bytes, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An import that took too long to be read, after its layers were found."""

    def scan(*_: Any) -> None:
        raise TooCostly(TOO_SLOW)

    with monkeypatch.context() as patch:
        patch.setattr(ReaderProcess, "scan", scan)
        return failed(client, content)


TOO_COSTLY = (
    "This file takes too much time or memory to read. Import a simpler file, or parts of it."
)


def test_a_file_that_takes_too_much_is_not_read_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other choice makes it cheaper, so it is deleted."""
    record = costly(client, collection(feature(square(), name="Alpine")), monkeypatch)
    assert refusal(client, record) == TOO_COSTLY
    assert stored(client, ImportFile) == 0


def test_a_file_about_which_deciding_takes_too_long_is_not_read_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "DECIDE_SECONDS", -1.0)
    record = failed(client, collection(feature(square(), name="Alpine")))
    assert record["message"].startswith("Comparing the features with what the account has takes")
    assert refusal(client, record) == TOO_COSTLY


@pytest.mark.slow
def test_deciding_may_take_so_long_in_all_turns_of_an_import(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ready(client, *(feature(square(n), name=f"P{n}") for n in range(3)))
    upload(make_account(client.app), collection(feature(square(), name="Alpine")))
    monkeypatch.setattr(applying, "BATCH_SECONDS", -1.0)
    monkeypatch.setattr(steps, "TURN_SECONDS", -1.0)
    times = count(step=DECIDE_SECONDS * 0.6)
    monkeypatch.setattr(targets, "thread_time", lambda: next(times))
    record = act(client, record, "apply")
    assert record["status"] == "failed"
    assert record["message"].startswith("Comparing the features with what the account has takes")
    assert set(projects(client)) == {"P0", "P1"}
    assert act(client, record, "undo")["counts"]["undone"] == 2


def test_another_layer_of_a_file_that_takes_too_much_is_read(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = "".join(
        f"<Folder><name>{name}</name><Placemark><name>{name}</name><Point><coordinates>1,2"
        "</coordinates></Point></Placemark></Folder>"
        for name in "AB"
    )
    record = costly(client, f"<kml><Document>{folders}</Document></kml>".encode(), monkeypatch)
    url = f"/v1/imports/{record['id']}"
    assert record["layer"] == ALL_FOLDERS
    assert refusal(client, record) == f"{TOO_COSTLY} Or choose another layer."
    assert client.put(url, json={"layer": ALL_FOLDERS}).status_code == 409
    assert client.put(url, json={"layer": "A"}).status_code == 200
    work(client)
    assert read(client, record["id"])["status"] == "ready"
    assert client.put(url, json={"match": "none"}).status_code == 200
