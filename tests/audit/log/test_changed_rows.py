"""Rows that somebody has changed with SQL into what the service never writes: each is found with
its place, and stops nothing but the log that it is in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from app.audit.log import jobs
from app.audit.log.integrity import verify_account
from app.audit.proof.verification import Verifier
from tests.audit.log.logs import PATH, checkpoints, seal, sealed_log, sql, write
from tests.audit.log.test_sealing import waiting
from tests.make import Client, make_account

OWN = "WHERE account_id = :account AND"
BAD = "CAST(x'ff' AS TEXT)"  # no UTF-8
COPY = "account_id, action, actor_id, target_id"
# In small letters: the tests read entries that the service writes, which these are not.


@pytest.fixture
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    yield sealed_log(client, monkeypatch)
    forget(client)


def forget(client: Client) -> None:
    """Delete the log, which other tests would come upon."""
    for table in ("audit_entries", "audit_checkpoints"):
        sql(client, f"DELETE FROM {table} WHERE account_id = :account")


def found(client: Client) -> list[tuple[str, str | None, int | None]]:
    """The kinds of problems, each with the entry and the checkpoint that it names."""
    with client.app.app_context():
        problems = list(verify_account(client.app, client.account_id, Verifier()))
    return [(each.kind, each.entry_id, each.checkpoint) for each in problems if each.is_problem]


def is_sqlite(client: Client) -> bool:
    return client.app.config["SETTINGS"].database_url.startswith("sqlite")


@pytest.mark.both
def test_an_entry_with_an_empty_id(client: Client, made: list[str]) -> None:
    sql(
        client,
        f"insert into audit_entries (id, {COPY}, body, mac) SELECT '', {COPY}, body, mac "
        f"FROM audit_entries {OWN} id = :id",
        id=made[6],
    )
    assert ("column_changed", "''", None) in found(client)


@pytest.mark.both
@pytest.mark.parametrize("number", [0, -5])
def test_a_checkpoint_with_a_number_that_none_has(
    client: Client, made: list[str], number: int
) -> None:
    names = "account_id, first, last, sealed_at, previous_hash, hash, key_id, signature"
    sql(
        client,
        f"INSERT INTO audit_checkpoints (number, {names}) SELECT {number}, {names} "
        f"FROM audit_checkpoints {OWN} number = 1",
    )
    assert found(client)[0][0] == "checkpoint_unreadable"


def test_an_entry_between_two_numbers(client: Client, made: list[str]) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL stores whole numbers only")
    sql(
        client,
        f"insert into audit_entries (id, {COPY}, body, mac, number) SELECT 'aud_x', {COPY}, "
        f"replace(body, id, 'aud_x'), mac, number + 4.5 FROM audit_entries {OWN} id = :id",
        id=made[5],
    )
    assert ("number_unknown", "aud_x", None) in found(client)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("body = CAST(body AS BLOB)", "column_changed"),
        ("mac = CAST(mac AS BLOB)", "column_changed"),
        *((f"{name} = {BAD}", "column_changed") for name in ("action", "actor_id", "body", "mac")),
        (f"body = replace(body, 'Hood', {BAD})", "column_changed"),
        ("number = 'x'", "number_unknown"),
        ("number = x'01'", "number_unknown"),
    ],
)
def test_an_entry_of_other_types(client: Client, made: list[str], change: str, kind: str) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL checks types")
    sql(client, f"UPDATE audit_entries SET {change} {OWN} id = :id", id=made[6])
    assert (kind, made[6], None) in found(client)


@pytest.mark.parametrize(
    "change",
    [
        *("hash = CAST(hash AS BLOB)", "entry_hashes = x'00'", "last = 'x'"),
        *(f"{name} = {BAD}" for name in ("hash", "sealed_at", "key_id", "entry_hashes")),
    ],
)
def test_a_checkpoint_of_other_types(client: Client, made: list[str], change: str) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL checks types")
    sql(client, f"UPDATE audit_checkpoints SET {change} {OWN} number = 2")
    assert "checkpoint_unreadable" in [kind for kind, _, _ in found(client)]


@pytest.mark.both
@pytest.mark.parametrize("time", ["infinity", "-infinity", "12000-03-15", BAD])
def test_a_checkpoint_of_no_time_stops_nothing(
    client: Client, made: list[str], monkeypatch: pytest.MonkeyPatch, time: str
) -> None:
    if (time == BAD) != is_sqlite(client):
        pytest.skip("PostgreSQL has times that Python has not, SQLite any text")
    change = BAD if time == BAD else f"'{time}'"
    sql(client, f"UPDATE audit_checkpoints SET sealed_at = {change} {OWN} number = 4")
    kinds = [kind for kind, _, _ in found(client)]
    assert {"checkpoint_unreadable", "signature_wrong"} & set(kinds)
    written = write(client)
    seal(client, monkeypatch)
    assert written not in waiting(client)
    listed = client.get(f"{PATH}/checkpoints").json["data"]
    assert [each["number"] for each in listed if each["number"] < 5] == [3, 2, 1]


@pytest.mark.both
def test_one_log_that_cannot_be_sealed_stops_no_other(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    changed, other = make_account(app), make_account(app)
    (made,) = sealed_log(changed, monkeypatch, batches=1)[:1]
    following = checkpoints(changed)[-1].last + 1
    sql(
        changed,
        f"insert into audit_entries (id, {COPY}, body, mac, number) SELECT '{made}x', {COPY}, "
        f"body, mac, {following} FROM audit_entries {OWN} id = :id",
        id=made,
    )
    waits, written = write(changed), write(other)
    both = [changed.account_id, other.account_id]
    monkeypatch.setattr(jobs, "accounts_with_waiting", lambda: both)
    with app.app_context():
        jobs.seal_all()
    assert waits in waiting(changed)
    assert written not in waiting(other)
    assert f"the audit log of {changed.account_id} cannot be sealed" in caplog.text
    forget(changed)


def test_ids_that_are_not_utf_8(client: Client, made: list[str]) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL stores UTF-8 only")
    sql(client, f"UPDATE audit_entries SET id = {BAD} {OWN} id = :id", id=made[6])
    assert found(client) == [("column_changed", "b'\\xff'", None)]


def test_a_key_that_is_not_utf_8(
    client: Client, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL stores UTF-8 only")
    names = "sealed_private_key, created_at"
    sql(
        client,
        f"INSERT INTO signing_keys (id, public_key, {names}) "
        f"SELECT 'a' || {BAD}, {BAD}, {names} FROM signing_keys LIMIT 1",
    )
    write(client)
    seal(client, monkeypatch)
    kinds = [kind for kind, _, _ in found(client)]
    sealed = checkpoints(client)[-1].number
    sql(client, f"DELETE FROM signing_keys WHERE public_key = {BAD}")
    assert kinds == ["key_unreadable", "file_unreadable"]
    assert sealed == 5


@pytest.mark.trial  # half a minute of entries
def test_an_entry_of_no_account_stops_the_sealing_of_no_other(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL stores UTF-8 only")
    lost = write(client)
    sql(client, f"UPDATE audit_entries SET account_id = {BAD} WHERE id = :id", id=lost)
    written = write(client)
    with client.app.app_context():
        jobs.seal_all()
    sql(client, "DELETE FROM audit_entries WHERE id = :id", id=lost)
    assert written not in waiting(client)
    assert "entries of the audit log name no account: b'\\xff'" in caplog.text
    forget(client)


@pytest.mark.parametrize("change", [f"body = {BAD}", f"mac = {BAD}", "body = x'00'"])
def test_a_waiting_entry_that_is_no_text_is_left_out(
    client: Client, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL stores UTF-8 only")
    seal(client, monkeypatch)
    before, strange, _ = checkpoints(client)[-1].last, write(client), write(client)
    sql(client, f"UPDATE audit_entries SET {change} WHERE id = :id", id=strange)
    seal(client, monkeypatch)
    sealed = checkpoints(client)[-1].last - before
    problems = found(client)
    forget(client)
    assert sealed == 1
    assert ("column_changed", strange, None) in problems
