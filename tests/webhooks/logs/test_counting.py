"""Counting long logs: what is remembered, and when it is not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.db.queries import reading_engine
from app.db.transactions import transaction
from app.lists import log_counts
from app.models import DeliveryLog
from app.values import clock
from app.values.ids import first_id, new_id
from app.webhooks.logs.filters import LOG
from tests.make import Client, make_log, make_webhook

EVENT = "evt_01arz3ndektsv4rrffq69g5fav"


class Log:
    """A log that counts as long from five entries on."""

    def __init__(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client, self.webhook_id = client, make_webhook(client)["id"]
        monkeypatch.setattr(log_counts, "LONG", 5)
        monkeypatch.setattr(log_counts, "FINAL_AFTER", timedelta())
        self.whole = 0
        whole = log_counts._count_until_query

        def counted(*arguments: Any) -> Any:
            self.whole += 1
            return whole(*arguments)

        monkeypatch.setattr(log_counts, "_count_until_query", counted)

    def write(self, number: int = 1, **columns: Any) -> list[str]:
        make = partial(make_log, self.client, self.webhook_id, EVENT, **columns)
        made = [make() for _ in range(number)]
        time.sleep(0.003)  # so that ids of other times follow
        return made

    def total(self, query: str = "") -> int:
        answer = self.client.get(f"/v1/webhooks/{self.webhook_id}/logs{query}")
        return int(answer.json["meta"]["total"])


@pytest.fixture
def log(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    log_counts._cache.clear()
    yield Log(client, monkeypatch)
    log_counts._cache.clear()


def test_a_short_log_is_counted_each_time(log: Log) -> None:
    log.write(4)
    assert [log.total(), log.total()] == [4, 4]
    assert log.whole == 2


def test_only_new_entries_of_a_long_log_are_counted(log: Log) -> None:
    log.write(6)
    assert log.total() == 6
    log.write(2)
    assert [log.total(), log.total()] == [8, 8]
    assert log.whole == 1


def test_recent_entries_are_not_cached(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry can become visible after one whose id is greater."""
    monkeypatch.setattr(log_counts, "FINAL_AFTER", timedelta(seconds=20))
    log.write()
    late = new_id("log")
    log.write(6)
    assert log.total() == 7
    log.write(id=late)
    assert log.total() == 8


@pytest.mark.both
def test_deleted_entries_are_noticed(log: Log) -> None:
    ids = log.write(8)
    assert log.total() == 8
    with log.client.app.app_context(), transaction():
        own = rows_of(log.client.account_id, DeliveryLog).where(DeliveryLog.id.in_(ids[:2]))
        for row in db.session.scalars(own):
            db.session.delete(row)
    assert log.total() == 6


def test_the_cache_is_limited(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_counts, "CACHE_SIZE", 1)
    log.write(6)
    assert [log.total(), log.total("?status=failed")] == [6, 6]
    assert len(log_counts._cache) == 1


def test_counting_reads_only_the_index(client: Client) -> None:
    if not client.app.config["SETTINGS"].uses_sqlite:
        pytest.skip("the plan is SQLite's")
    with client.app.app_context():
        assert "COVERING INDEX" in _plan(client, make_webhook(client)["id"])


def _plan(client: Client, webhook_id: str) -> str:
    whole = log_counts._count_until_query(LOG, frozenset({"status", "event_type"})).compiled_for(
        reading_engine().dialect
    )
    values = {"account_id": client.account_id, "webhook_id": webhook_id}
    with reading_engine().connect() as connection:
        cursor = connection.connection.cursor()
        upto = first_id("log", clock.now())
        values |= {"status": "failed", "event_type": "asset.created", "upto": upto}
        cursor.execute(f"EXPLAIN QUERY PLAN {whole.text}", whole.bind(values))
        return " ".join(str(row[3]) for row in cursor.fetchall())
