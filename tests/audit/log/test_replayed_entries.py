"""Entries that were deleted by age, and that somebody with SQL puts in again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import text

from app.audit.log import jobs
from app.db.extensions import db
from app.values import clock
from tests.audit.log.logs import checkpoints, points, seal, sealed_log, sql, write
from tests.audit.log.test_changed_rows import forget, found
from tests.audit.log.test_sealing import waiting
from tests.make import Client

COLUMNS = "id, account_id, action, actor_id, target_id, body, mac"


@pytest.fixture
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A log that has just been written; in the test, it is older than AUDIT_DAYS."""
    now, entries = clock.now(), sealed_log(client, monkeypatch)
    later = now + timedelta(client.app.config["SETTINGS"].audit_days + 1)
    monkeypatch.setattr(clock, "now", lambda: later)
    yield entries
    forget(client)


def prune(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, client.app.app_context():
        patch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])
        jobs.prune_audit_log()
    assert not any(row.entry_hashes for row in checkpoints(client))


@pytest.mark.both
@pytest.mark.parametrize("place", [0, -1])
def test_one_is_not_sealed_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, made: list[str], place: int
) -> None:
    with client.app.app_context():
        wanted = text(f"SELECT {COLUMNS} FROM audit_entries WHERE id = :id")
        copy = db.session.execute(wanted, {"id": made[place]}).one()._asdict()
        db.session.rollback()
    prune(client, monkeypatch)
    values = ", ".join(f":{name}" for name in COLUMNS.split(", "))
    sql(client, f"insert into audit_entries ({COLUMNS}) VALUES ({values})", **copy)
    seal(client, monkeypatch)
    assert waiting(client) == [made[place]]
    assert found(client) == [("entry_inserted", made[place], None)]


def test_one_that_has_waited_long_is_sealed(
    client: Client, monkeypatch: pytest.MonkeyPatch, made: list[str]
) -> None:
    """The worker did not run for years."""
    with monkeypatch.context() as patch:
        soon = clock.parse_time(points(client)[-1].sealed_at) + timedelta(milliseconds=1)
        patch.setattr(clock, "now", lambda: soon)
        waits = write(client)
    prune(client, monkeypatch)
    seal(client, monkeypatch)
    assert waits not in waiting(client)
    assert found(client) == []


def test_one_from_before_a_batch_is_sealed_before_that_is_deleted(
    client: Client, monkeypatch: pytest.MonkeyPatch, made: list[str]
) -> None:
    """The worker stopped within a backlog, or a transaction was open when others were sealed."""
    with monkeypatch.context() as patch:
        before = clock.parse_time(points(client)[0].sealed_at) - timedelta(milliseconds=1)
        patch.setattr(clock, "now", lambda: before)
        waits = write(client)
    with monkeypatch.context() as patch, client.app.app_context():
        patch.setattr(jobs, "accounts_with_expired", lambda: [client.account_id])
        assert jobs.prune_audit_log() == 0
        seal(client, monkeypatch)
        assert jobs.prune_audit_log() > 0
    assert waits not in waiting(client)
    seal(client, monkeypatch)
    assert found(client) == []
