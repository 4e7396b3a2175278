"""Events of the past are sent again at a pace of their own."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from itertools import pairwise

import pytest
from flask import Flask

from app.policy.deliveries import RETRY_AFTER
from app.policy.request_limits import HISTORY_ROW_BYTES
from app.values import clock
from app.values.clock import format_time
from app.webhooks.replays import jobs
from app.webhooks.replays.jobs import queue_replays
from tests.jobs.due import run_if_due
from tests.make import Client, events, make_project
from tests.make.apps import second_app
from tests.make.webhooks import deliveries, make_webhook, replays
from tests.outbound.receivers import Receiver, answering
from tests.webhooks.conftest import Deliver, Later


def replay(customer: Client, webhook: dict[str, str], **body: object) -> int:
    since = format_time(clock.now() - timedelta(days=1))
    answer = customer.post(f"/v1/webhooks/{webhook['id']}/replay", {"since": since} | body)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json["data"]["replayed"]


def queue_all(app: Flask) -> int:
    with app.app_context():
        return run_if_due(queue_replays)


@pytest.mark.both
def test_all_events_are_replayed_once_in_order(
    delivering: Flask,
    customer: Client,
    receiver: Receiver,
    deliver: Deliver,
    later: Later,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "CHUNK", 2)
    monkeypatch.setattr(jobs, "AHEAD", timedelta())
    for _ in range(5):
        make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    assert replay(customer, webhook) == 5
    for _ in range(3):
        queue_all(delivering)
        assert queue_all(delivering) == 0, "the next ones have their time"
        later(timedelta(seconds=1))
        deliver()
    assert replays(customer) == []
    written = [event["id"] for event in events(customer) if event["type"] == "project.created"]
    sent = [json.loads(request.body)["id"] for request in receiver.requests]
    assert sorted(sent) == written
    assert {row["cause"] for row in deliveries(customer)} == {"replay"}


def test_the_next_events_are_queued_before_the_last_are_due(
    delivering: Flask,
    customer: Client,
    receiver: Receiver,
    later: Later,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "CHUNK", 3)
    for _ in range(7):
        make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    replay(customer, webhook)
    assert [queue_all(delivering) for _ in range(4)] == [3, 3, 1, 0]
    times = [row["due_at"] for row in deliveries(customer)]
    assert {(b - a).total_seconds() for a, b in pairwise(times)} == {0.02}


@pytest.mark.both
def test_the_replays_of_an_account_share_its_pace(
    delivering: Flask, customer: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "CHUNK", 4)
    for _ in range(3):
        make_project(customer)
    ids = list[str]()
    for _ in range(2):
        webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
        replay(customer, webhook)
        ids.append(webhook["id"])
    assert queue_all(delivering) == 4
    for webhook_id in ids:
        due = [row["due_at"] for row in deliveries(customer) if row["webhook_id"] == webhook_id]
        assert (due[1] - due[0]).total_seconds() == 0.04
    assert [queue_all(delivering) for _ in range(2)] == [2, 0]


def test_nothing_is_queued_while_the_history_has_no_room(
    delivering: Flask, customer: Client, receiver: Receiver
) -> None:
    make_project(customer)
    replay(customer, make_webhook(customer, url=receiver.url(), events=["project.created"]))
    usage = customer.get("/v1/account/usage").json["data"]["history_bytes"]["current"]
    room = usage + 2 * HISTORY_ROW_BYTES
    for bytes_, queued in ((room - 1, 0), (room, 1)):
        with second_app(delivering, max_history_bytes=bytes_) as made:
            assert queue_all(made) == queued


@pytest.mark.both
def test_accounts_take_turns_and_a_run_ends_in_time(
    delivering: Flask, customer: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {}
    for owner in (customer, customer, customer, stranger):
        make_project(owner)
        webhook = make_webhook(owner, events=["project.created"])
        replay(owner, webhook)
    with delivering.app_context():
        due = jobs.due_replays()
    for owner in (customer, stranger):
        owners |= {each["id"]: owner for each in replays(owner)}
    mine = [replay_id for replay_id in due if replay_id in owners]
    assert [owners[replay_id] for replay_id in mine] == [customer, stranger, customer, customer]
    monkeypatch.setattr(jobs, "due_replays", lambda: mine)
    monkeypatch.setattr(jobs, "RUN_SECONDS", -1.0)
    queue_all(delivering)
    assert len(replays(customer)) == 2
    assert len(replays(stranger)) == 1


def test_nothing_is_queued_while_the_receiver_is_behind(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    later(timedelta(seconds=6))
    replay(customer, webhook)
    assert queue_all(delivering) == 0
    deliver()
    later(timedelta(seconds=5))
    assert queue_all(delivering) == 1


@pytest.mark.both
def test_a_replay_of_failed_events_only(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    received = make_project(customer)
    deliver()
    receiver.answer = answering(400)
    failed = make_project(customer)
    for delay in (*RETRY_AFTER, timedelta()):
        deliver()
        later(delay)
    receiver.answer = answering(200)
    receiver.requests.clear()
    assert replay(customer, webhook, since="2020-01-01T00:00:00Z", only_failed=True) == 1
    queue_all(delivering)
    deliver()
    (request,) = receiver.requests
    assert json.loads(request.body)["data"]["id"] == failed["id"] != received["id"]
    assert replay(customer, webhook, since="2020-01-01T00:00:00Z", only_failed=True) == 0


def test_one_replay_at_a_time(delivering: Flask, customer: Client, receiver: Receiver) -> None:
    make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    replay(customer, webhook)
    body = {"since": format_time(clock.now() - timedelta(days=1))}
    again = customer.post(f"/v1/webhooks/{webhook['id']}/replay", body)
    assert again.status_code == 409
    assert "still running" in again.json["error"]["message"]
    queue_all(delivering)
    assert replay(customer, webhook) == 1


@pytest.mark.both
@pytest.mark.slow
def test_disabling_and_replaying_at_once_do_not_wait_for_each_other(
    delivering: Flask, customer: Client, receiver: Receiver
) -> None:
    make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(4):
        replay(customer, webhook)
        job = threading.Thread(target=queue_all, args=(delivering,))
        job.start()
        answer = customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
        job.join()
        assert answer.status_code == 200
        assert replays(customer) == []
        customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": True})
