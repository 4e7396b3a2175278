"""Sealing: batches, their order, who seals, and what is not sealed."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.audit.log import jobs, sealing
from app.audit.log.keys import list_keys
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import SigningKey
from app.policy.audit import SEALED_ENTRIES
from app.policy.request_limits import BODY_STRINGS, METADATA_LEVELS
from tests.audit.log.logs import PATH, checkpoints, exported, kinds, seal, sealed_log, sql, write
from tests.make import Client, make_account, make_asset, make_project
from tests.make.webhooks import make_webhook
from tests.pages.support import browser_of


def waiting(client: Client) -> list[str]:
    """The ids of the entries that are not sealed."""
    with client.app.app_context():
        values = {"account_id": client.account_id, "after": "", "size": 10_000}
        return [row.id for row in sealing._NEXT.all(**values)]


def run_job(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the job for the client's account alone: those of other tests may take all its time."""
    with monkeypatch.context() as patch, client.app.app_context():
        patch.setattr(jobs, "accounts_with_unsealed_entries", lambda: [client.account_id])
        jobs.seal_audit_log()


def test_entries_get_numbers_in_their_order(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch)
    rows = checkpoints(client)
    assert [row.number for row in rows] == [1, 2, 3, 4]
    assert [row.last - row.first + 1 for row in rows[1:]] == [5, 5, 5]
    assert [after.first for after in rows[1:]] == [row.last + 1 for row in rows[:-1]]
    assert [after.previous_hash for after in rows[1:]] == [row.hash for row in rows[:-1]]
    assert waiting(client) == []


def test_few_entries_wait_until_one_is_old(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = write(client)
    run_job(client, monkeypatch)
    assert made in waiting(client)
    monkeypatch.setattr(sealing, "SEALED_AFTER", timedelta(seconds=-5))
    run_job(client, monkeypatch)
    assert made not in waiting(client)


def test_a_full_batch_is_sealed_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "SEALED_ENTRIES", 4)
    seal(client, monkeypatch)
    before = len(checkpoints(client))
    made = [write(client) for _ in range(9)]
    run_job(client, monkeypatch)
    assert [row.last - row.first + 1 for row in checkpoints(client)[before:]] == [4, 4]
    assert waiting(client) == made[8:]


def test_one_key_signs_for_all_accounts(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    for client in (make_account(app), make_account(app)):
        sealed_log(client, monkeypatch, batches=1)
        answer = client.get("/v1/audit-log/keys")
        ids = [key["id"] for key in answer.json["data"]]
        assert {row.key_id for row in checkpoints(client)} <= set(ids)
        assert kinds(exported(client)) == []


def test_unreadable_entries_are_not_sealed_and_hold_up_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seal(client, monkeypatch)
    unreadable = [write(client) for _ in range(5)]
    sql(
        client, "UPDATE audit_entries SET body = 'x' WHERE number IS NULL AND account_id = :account"
    )
    write(client)
    monkeypatch.setattr(sealing, "SEALED_ENTRIES", 3)
    seal(client, monkeypatch)
    assert waiting(client) == unreadable
    assert f"unreadable entries of the audit log of {client.account_id}" in caplog.text
    assert kinds(exported(client)) == ["entry_unreadable"] * 5
    sql(client, "DELETE FROM audit_entries WHERE account_id = :account")  # other tests read them


def test_one_log_that_cannot_be_sealed_stops_no_other(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing, other = make_account(app), make_account(app)
    waits, written = write(failing), write(other)

    def fail(account_id: str) -> int:
        if account_id == failing.account_id:
            raise ValueError
        return SEALED_ENTRIES

    monkeypatch.setattr(sealing, "entries_at_once", fail)
    monkeypatch.setattr(sealing, "SEALED_AFTER", timedelta(days=-1))
    both = [failing.account_id, other.account_id]
    monkeypatch.setattr(jobs, "accounts_with_unsealed_entries", lambda: both)
    with app.app_context():
        jobs.seal_audit_log()
    assert waits in waiting(failing)
    assert written not in waiting(other)
    assert f"the audit log of {failing.account_id} cannot be sealed" in caplog.text


def test_what_is_killed_in_between_leaves_nothing_half_done(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(client, monkeypatch)
    before, made = checkpoints(client), [write(client) for _ in range(3)]

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sealing, "insert_row", killed)
        with pytest.raises(KeyboardInterrupt):
            seal(client, monkeypatch)
    assert waiting(client) == made
    assert checkpoints(client) == before
    seal(client, monkeypatch)
    assert waiting(client) == []
    assert kinds(exported(client)) == []


@pytest.mark.slow
@pytest.mark.both
def test_two_sealers_and_writers_at_the_same_time(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sealing, "SEALED_ENTRIES", 7)
    made = list[str]()
    end = threading.Event()

    def write_some() -> None:
        for _ in range(15):
            made.append(write(client))

    def seal_some() -> None:
        while not end.is_set():
            with client.app.app_context():
                jobs.seal_audit_log()

    sealers = [threading.Thread(target=seal_some) for _ in range(2)]
    writers = [threading.Thread(target=write_some) for _ in range(3)]
    for thread in (*sealers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    end.set()
    for thread in sealers:
        thread.join()
    seal(client, monkeypatch)
    rows = checkpoints(client)
    assert sum(row.last - row.first + 1 for row in rows) >= len(made) == 45
    assert "cannot be sealed" not in caplog.text
    assert kinds(exported(client)) == []


def test_a_key_that_this_instance_has_not_made_is_not_used(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_log(client, monkeypatch, batches=1)
    sql(
        client,
        "INSERT INTO signing_keys SELECT 'sk_zz', public_key, 'x', created_at FROM signing_keys"
        " WHERE id = (SELECT min(id) FROM signing_keys)",
    )
    try:
        made = write(client)
        seal(client, monkeypatch)
        assert made not in waiting(client)
        assert checkpoints(client)[-1].key_id != "sk_zz"
        with client.app.app_context():
            assert "sk_zz" in [key["id"] for key in list_keys()]
    finally:
        with client.app.app_context(), transaction():
            db.session.delete(db.session.get_one(SigningKey, "sk_zz"))


@pytest.mark.both
def test_metadata_of_the_most_levels_are_recorded_sealed_and_sent(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(client, events=["*", "audit.entry"])
    deep: Any = {}
    for _ in range(METADATA_LEVELS - 2):
        deep = [deep]
    project = make_project(client, metadata={"a": deep})
    asset = make_asset(client, project["id"], metadata={"a": deep})
    for path in (
        f"/v1/projects/{project['id']}",
        f"/v1/projects/{project['id']}/assets/{asset['id']}",
    ):
        assert client.put(path, {"metadata": {"b": deep}}).status_code == 200
        assert client.put(path, {"metadata": {"b": [deep]}}).status_code == 422
        assert client.get(path).json["data"]["metadata"] == {"b": deep}
    seal(client, monkeypatch)
    assert waiting(client) == []
    assert kinds(exported(client)) == []


def test_an_entry_with_more_strings_than_a_body_may_have_is_sealed_and_read(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(client)
    path = f"/v1/projects/{project['id']}"
    for number in range(3):
        many = {"metadata": {"a": [""] * (BODY_STRINGS // 4 + number)}}
        assert client.put(path, many | {"description": '"' * (9_990 + number)}).status_code == 200
    seal(client, monkeypatch)
    assert waiting(client) == []
    assert kinds(exported(client)) == []
    assert len(client.get(f"{PATH}?action=project.updated").json["data"]) == 3
    browser = browser_of(client)
    assert "cannot be read" not in browser.get("/audit-log").text
    assert browser.get(f"/projects/{project['id']}").status == 200
