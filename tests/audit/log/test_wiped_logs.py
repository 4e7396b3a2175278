"""Somebody with SQL tries to have the service itself delete sealed entries, and puts back whatever
they changed."""

from __future__ import annotations

import base64
import threading
import time
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import Flask
from sqlalchemy import text

from app.audit.entries import record
from app.audit.log import jobs, retention
from app.audit.proof import checkpoint as proof
from app.db.extensions import db
from app.values import clock
from tests.audit.log.logs import (
    PATH,
    checkpoints,
    exported,
    kinds,
    points,
    prune,
    seal,
    sealed_log,
    sql,
)
from tests.audit.log.test_changed_rows import BAD, OWN, forget, is_sqlite
from tests.audit.log.test_documented_verifier import Verify, key_of
from tests.audit.log.test_documented_verifier import verify as verify
from tests.make import Client, make_account

PAST, FUTURE = (clock.now() + timedelta(days=days) for days in (-2_000, 2_000))


def moment(client: Client, at: datetime | str) -> Any:
    """A time as the database takes it."""
    if is_sqlite(client):
        return at if isinstance(at, str) else clock.format_time(at)
    return clock.parse_time(at) if isinstance(at, str) else at


def run(client: Client) -> None:
    with client.app.app_context():
        jobs.prune_audit_log()


def sign(client: Client, key: Ed25519PrivateKey, key_id: str) -> None:
    """Sign all checkpoints with another key, as if they were old."""
    for each in points(client):
        old = each._replace(sealed_at=clock.format_time(PAST), key_id=key_id)
        signature = base64.b64encode(key.sign(proof.signed_text(old))).decode()
        sql(
            client,
            "UPDATE audit_checkpoints SET sealed_at = :at, key_id = :key, signature = :signature "
            f"{OWN} number = :number",
            at=moment(client, PAST),
            key=key_id,
            signature=signature,
            number=each.number,
        )


@pytest.mark.both
def test_with_a_key_of_ones_own(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made, key = sealed_log(client, monkeypatch), Ed25519PrivateKey.generate()
    added = (
        "INSERT INTO signing_keys (id, public_key, sealed_private_key, created_at) "
        "SELECT 'sk_0', :public, sealed_private_key, created_at FROM signing_keys LIMIT 1"
    )
    with client.app.app_context():
        db.session.execute(text(added), {"public": proof.write_public_key(key.public_key())})
        db.session.commit()
    sign(client, key, "sk_0")
    run(client)
    with client.app.app_context():
        db.session.execute(text("DELETE FROM signing_keys WHERE id = 'sk_0'"))
        db.session.commit()
    is_there = client.get(f"{PATH}/{made[0]}").status_code == 200
    forget(client)
    assert is_there
    assert f"the audit log of {client.account_id} keeps its old entries" in caplog.text


@pytest.mark.both
def test_while_the_rows_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealed_log(client, monkeypatch)
    right, end = points(client), threading.Event()
    change = f"UPDATE audit_checkpoints SET sealed_at = :at, last = :last {OWN} number = 1"

    def switch() -> None:
        while not end.is_set():
            sql(client, change, at=moment(client, PAST), last=right[-1].last)
            time.sleep(0.002)
            sql(client, change, at=moment(client, right[0].sealed_at), last=right[0].last)
            time.sleep(0.004)

    other = threading.Thread(target=switch)
    other.start()
    try:
        for _ in range(150):
            run(client)
    finally:
        end.set()
        other.join()
    is_there = client.get(f"{PATH}/{made[0]}").status_code == 200
    forget(client)
    assert is_there


@pytest.mark.parametrize("number", [0.5, 1.5])
def test_with_a_checkpoint_between_two_numbers(
    client: Client, monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    if not is_sqlite(client):
        pytest.skip("PostgreSQL stores whole numbers only")
    made = sealed_log(client, monkeypatch)
    sql(
        client,
        f"INSERT INTO audit_checkpoints SELECT account_id, {number}, 1, {points(client)[-1].last}, "
        "'2001-01-01T00:00:00.000Z', previous_hash, hash, key_id, signature, 'x' "
        f"FROM audit_checkpoints {OWN} number = 1",
    )
    run(client)
    is_there = client.get(f"{PATH}/{made[0]}").status_code == 200
    forget(client)
    assert is_there


@pytest.mark.both
def test_only_what_was_signed_is_deleted(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old batch whose entries are said to be more."""
    made = sealed_log(client, monkeypatch)
    sql(client, f"UPDATE audit_checkpoints SET last = :last {OWN} number = 1", last=1_000)
    later = clock.now() + timedelta(days=client.app.config["SETTINGS"].audit_days + 1)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        patch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])
        run(client)
    is_there = client.get(f"{PATH}/{made[-1]}").status_code == 200
    forget(client)
    assert is_there


@pytest.mark.parametrize(
    "change",
    [
        "number = 'x'",
        "number = x'01'",
        "last = 'x'",
        *(f"{name} = {BAD}" for name in ("account_id", "hash", "key_id", "entry_hashes")),
    ],
)
def test_one_log_that_cannot_be_pruned_stops_no_other(
    app: Flask, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    changed, other = make_account(app), make_account(app)
    if not is_sqlite(changed):
        pytest.skip("PostgreSQL checks types")
    for client in (changed, other):
        sealed_log(client, monkeypatch, batches=1)
    sql(changed, f"UPDATE audit_checkpoints SET sealed_at = '2001' {OWN} number = 1")
    sql(changed, f"UPDATE audit_checkpoints SET {change} {OWN} number = 1")
    later = clock.now() + timedelta(days=app.config["SETTINGS"].audit_days + 1)
    expired = jobs.accounts_with_expired

    def of_these() -> list[str]:  # those of other tests have expired as well
        return [each for each in expired() if each in (changed.account_id, other.account_id)]

    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        patch.setattr(jobs, "accounts_with_expired", of_these)
        run(other)
    is_pruned = not any(row.entry_hashes for row in checkpoints(other))
    sql(changed, f"DELETE FROM audit_checkpoints WHERE account_id IN (:account, {BAD})")
    forget_entries(changed)
    assert is_pruned


@pytest.mark.parametrize("early", [True, False])
def test_when_entries_were_deleted_is_verified(
    client: Client, monkeypatch: pytest.MonkeyPatch, verify: Verify, early: bool
) -> None:
    sealed_log(client, monkeypatch)
    days = timedelta(client.app.config["SETTINGS"].audit_days)
    later = clock.now() + days + timedelta(minutes=-1 if early else 1)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        patch.setattr(retention, "_expired_before", lambda: later)
        patch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])
        run(client)
    seal(client, monkeypatch)
    lines = exported(client)
    assert kinds(lines) == (["deletion_early"] if early else [])
    with pytest.raises(AssertionError, match="early") if early else nullcontext():
        verify(lines, key_of(client))


def test_entries_of_earlier_versions_say_no_days(
    client: Client, monkeypatch: pytest.MonkeyPatch, verify: Verify
) -> None:
    def without_days(*args: Any, changes: dict[str, Any], **options: Any) -> str:
        del changes["audit_days"]
        return record(*args, changes=changes, **options)

    sealed_log(client, monkeypatch)
    monkeypatch.setattr(retention, "record", without_days)
    prune(client, monkeypatch, [1, 2])
    seal(client, monkeypatch)
    assert kinds(exported(client)) == []
    assert verify(exported(client), key_of(client))


@pytest.mark.parametrize("days", [800, -2])
def test_nothing_is_deleted_while_two_clocks_differ(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, days: int
) -> None:
    sealed_log(client, monkeypatch, batches=1)
    with monkeypatch.context() as patch:
        patch.setattr(clock._DatabaseClock, "offset", None)
        clock.follow(time.time() + days * 86_400)
        patch.setattr(clock, "read_ago", lambda: 0)  # so that it is not read again
        patch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])
        patch.setattr(retention, "_expired_before", lambda: FUTURE)
        run(client)
    assert all(row.entry_hashes for row in checkpoints(client))
    assert caplog.text.count("more than a day") == 1


def forget_entries(client: Client) -> None:
    sql(client, "DELETE FROM audit_entries WHERE account_id = :account")


def test_what_a_log_line_shows_is_printable(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: str) -> int:
        raise ValueError

    monkeypatch.setattr(jobs, "accounts_with_expired", lambda: ["acct\n\x1b[31m"])
    monkeypatch.setattr(jobs, "delete_oldest", fail)
    with app.app_context():
        jobs.prune_audit_log()
    (line,) = [each.getMessage() for each in caplog.records if "cannot be pruned" in each.msg]
    assert line.isprintable()
