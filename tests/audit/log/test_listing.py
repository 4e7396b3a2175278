"""The list of entries: filters, the ends of times, pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from flask import Flask

from app.audit.log import filters
from app.audit.log.filters import EntryQuery
from app.audit.log.listing import list_entries, list_latest
from app.audit.origin import Actor
from app.db.queries import reading_engine
from app.lists import log_counts
from app.values import clock
from tests.audit.log.logs import ANN, PATH, prune, seal, sealed_log, write
from tests.make import Client, make_account


def listed(client: Client, query: str = "") -> list[dict[str, Any]]:
    """The entries that a query leaves."""
    answer = client.get(PATH + query)
    assert answer.status_code == 200, answer.text
    data: list[dict[str, Any]] = answer.json["data"]
    return data


def ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["id"] for entry in entries]


def test_the_newest_come_first(client: Client) -> None:
    made = [write(client, "project.updated", f"p{number}") for number in range(5)]
    assert ids(listed(client, "?per_page=5")) == made[::-1]
    assert ids(listed(client, "?per_page=2&page=2")) == made[2:0:-1]


def test_each_entry_is_on_one_page_whether_it_is_sealed_or_not(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = sealed_log(client, monkeypatch)
    prune(client, monkeypatch, [1, 2])
    earlier = clock.now() - timedelta(seconds=5)
    with monkeypatch.context() as patch:  # committed after younger ones were sealed
        patch.setattr(clock, "now", lambda: earlier)
        late = write(client)
    new = [write(client) for _ in range(3)]
    for _ in range(2):
        expected = ids(listed(client, "?per_page=100"))
        assert expected[:3] == new[::-1]
        assert expected[-11:] == [late, *sealed[:-11:-1]]
        for size in range(1, 8):
            pages = [
                ids(listed(client, f"?per_page={size}&page={number}"))
                for number in range(1, len(expected) // size + 3)
            ]
            assert list(chain.from_iterable(pages)) == expected
            assert {len(page) for page in pages} <= {size, len(expected) % size, 0}
        seal(client, monkeypatch)
        assert ids(listed(client, "?per_page=100")) == expected


@pytest.mark.both
def test_filters_leave_what_they_name(client: Client) -> None:
    bob = Actor("person", "user_01arz3ndektsv4rrffq69g5faw", "bob@example.org")
    made = {
        (action, target, actor.label): write(client, action, target, actor)
        for action in ("project.updated", "project.deleted")
        for target in ("p1", "p2")
        for actor in (ANN, bob)
    }
    wanted = ids(listed(client, f"?target_id=p1&actor_id={ANN.id}"))
    assert wanted == [
        made["project.deleted", "p1", ANN.label],
        made["project.updated", "p1", ANN.label],
    ]
    query = f"?target_id=p2&actor_id={bob.id}&action=project.updated"
    assert ids(listed(client, query)) == [made["project.updated", "p2", bob.label]]
    assert len(listed(client, f"?actor_id={bob.id}")) == 4


@pytest.mark.both
def test_both_ends_of_a_time_are_included_to_the_millisecond(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = datetime(2026, 3, 1, 12, 0, 0, 122_000, tzinfo=UTC)
    made = []
    for number in range(3):
        moment = start + timedelta(milliseconds=number)
        with monkeypatch.context() as patch:
            patch.setattr(clock, "now", lambda moment=moment: moment)
            made.append(write(client, "project.updated", "p1"))
    base = "2026-03-01T12:00:00"
    assert ids(listed(client, f"?since={base}.123Z&until={base}.123Z")) == [made[1]]
    assert ids(listed(client, f"?until={base}.1239Z")) == [made[1], made[0]]
    own = f"?target_id=p1&since={base}"
    assert ids(listed(client, f"{own}.1231Z")) == [made[2], made[1]]
    assert ids(listed(client, f"{own}.1251Z")) == []


def test_the_total_of_a_long_log_is_that_of_the_time_that_is_asked_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_counts, "LONG", 1)
    for day in (1, 2, 3):
        with monkeypatch.context() as patch:
            patch.setattr(clock, "now", lambda day=day: datetime(2026, 3, day, 12, tzinfo=UTC))
            write(client, "project.updated", "p1")
    queries = (f"?target_id=p1&since=2026-03-0{day}T00:00:00Z" for day in (1, 2, 3))
    assert [client.get(PATH + query).json["meta"]["total"] for query in queries] == [3, 2, 1]


def test_no_account_sees_the_log_of_another(app: Flask, client: Client) -> None:
    entry_id = write(client, "project.updated", "p1")
    stranger = make_account(app)
    assert entry_id not in ids(listed(stranger, "?target_id=p1"))
    assert stranger.get(f"{PATH}/{entry_id}").status_code == 404


@pytest.mark.both
def test_pages_for_people_go_on_where_the_last_one_ended(client: Client) -> None:
    made = [write(client, "project.updated", f"p{number % 2}") for number in range(6)]
    with client.app.app_context():
        query = EntryQuery(per_page=2, target_id="p0")
        first = list_latest(client.account_id, query)
        second = list_latest(client.account_id, query, first.before)
    assert first.before == made[2]
    assert len(second.entries) == 1
    assert second.before is None


def test_what_several_filters_seldom_leave_is_looked_for_further_back(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.lists.logs.LOOKED_THROUGH", 4)
    made = write(client, "project.deleted", "p1")
    for _ in range(6):
        write(client, "project.updated", "p1")
    with client.app.app_context():
        query = EntryQuery(target_id="p1", action="project.deleted")
        first = list_latest(client.account_id, query)
        assert (first.entries, first.is_cut) == ([], True)
        second = list_latest(client.account_id, query, first.before)
        assert ids(second.entries) == [made]
        by_one = list_latest(client.account_id, EntryQuery(action="project.deleted"))
        assert len(by_one.entries) == 1


def test_counting_reads_only_an_index(app: Flask) -> None:
    with app.app_context():
        if reading_engine().dialect.name != "sqlite":
            pytest.skip("the plan of SQLite")
        for number in range(8):
            chosen = frozenset(filters.INDEXED[bit] for bit in range(3) if number >> bit & 1)
            statement = log_counts._count_until_query(filters.LOG, chosen).compiled_for(
                reading_engine().dialect
            )
            values = dict.fromkeys(("account_id", *filters.INDEXED, "upto"), "x")
            with reading_engine().connect() as connection:
                cursor = connection.connection.cursor()
                cursor.execute(f"EXPLAIN QUERY PLAN {statement.text}", statement.bind(values))
                plan = " ".join(str(row[3]) for row in cursor.fetchall())
            assert "COVERING INDEX" in plan, plan
            driving = next((name for name in filters.INDEXED if name in chosen), "id")
            assert f"account_id_{driving}" in plan, plan


def test_a_page_past_the_end_is_empty(client: Client) -> None:
    write(client, "project.updated", "p1")
    with client.app.app_context():
        records, total = list_entries(client.account_id, EntryQuery(page=9, target_id="p1"))
    assert (records, total) == ([], 1)
