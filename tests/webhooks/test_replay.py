"""Sending events of the past again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Delivery, Event, Replay
from app.policy.events import EVENTS, includes_event
from app.values import clock
from app.values.ids import new_id
from app.webhooks.replays import jobs
from app.webhooks.replays.jobs import queue_replays
from app.webhooks.replays.service import select_events
from tests.make import Client, deliveries, events, make_asset, make_project, make_webhook
from tests.make.webhooks import end_replays, make_replay, replays, set_deliveries, set_webhook
from tests.outbound.receivers import Receiver, answering
from tests.webhooks.conftest import Deliver

LONG_AGO = "2020-01-01T00:00:00Z"


def _replay(client: Client, webhook: dict[str, Any], **fields: Any) -> Any:
    body = {"since": LONG_AGO} | fields
    return client.post(f"/v1/webhooks/{webhook['id']}/replay", json=body)


def _number(client: Client, webhook: dict[str, Any], **fields: Any) -> int:
    """How many events are sent again; those of the call before are done."""
    end_replays(client, webhook["id"])
    answer = _replay(client, webhook, **fields)
    assert answer.status_code == 200, answer.json
    data = answer.json["data"]
    assert list(data) == ["replayed", "replay_id"]
    assert (data["replay_id"] is None) is (data["replayed"] == 0)
    return int(data["replayed"])


def _fields_at_fault(answer: Any) -> list[str]:
    assert answer.status_code == 422
    return [item["field"] for item in answer.json["error"]["details"]]


@pytest.fixture
def past(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Two projects and an asset, of one second each, the oldest first."""
    first = clock.now() - timedelta(hours=1)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: first)
        project = make_project(client)
        patch.setattr(clock, "now", lambda: first + timedelta(seconds=1))
        make_project(client)
        patch.setattr(clock, "now", lambda: first + timedelta(seconds=2))
        make_asset(client, project["id"])
    found = events(client)
    assert [event["type"] for event in found] == [
        "project.created",
        "project.created",
        "asset.created",
    ]
    for event in found:
        event["at"] = clock.parse_time(event["created_at"])
    return found


def _at(event: dict[str, Any], milliseconds: int = 0) -> str:
    return clock.format_time(event["at"] + timedelta(milliseconds=milliseconds))


def test_a_replay_is_queued_for_the_job(client: Client, past: list[dict[str, Any]]) -> None:
    webhook = make_webhook(client)
    data = _replay(client, webhook, since=_at(past[0]), only_failed=False).json["data"]
    (row,) = replays(client)
    assert row["id"] == data["replay_id"]
    assert row["id"].startswith("rpl_")
    assert data["replayed"] == 3
    assert row["webhook_id"] == webhook["id"]
    assert row["since"] == past[0]["at"]
    assert row["until"] == row["created_at"] == row["next_at"]
    assert row["event_types"] == [name for name in EVENTS if includes_event(["*"], name)]
    assert (row["last_event_id"], row["only_failed"]) == ("", False)
    assert deliveries(client) == []


@pytest.mark.usefixtures("past")
def test_without_events_no_replay_is_queued(client: Client) -> None:
    webhook = make_webhook(client)
    assert _number(client, webhook, since=clock.format_time(clock.now())) == 0
    assert replays(client) == []


def test_both_ends_of_the_time_are_included(client: Client, past: list[dict[str, Any]]) -> None:
    webhook = make_webhook(client)
    first, second, third = past
    assert _number(client, webhook, since=_at(first), until=_at(third)) == 3
    assert _number(client, webhook, since=_at(first, 1), until=_at(third)) == 2
    assert _number(client, webhook, since=_at(first), until=_at(third, -1)) == 2
    assert _number(client, webhook, since=_at(second), until=_at(second)) == 1


def test_times_can_have_any_zone(client: Client, past: list[dict[str, Any]]) -> None:
    webhook = make_webhook(client)
    moment = past[1]["at"] + timedelta(hours=2)
    text = clock.format_time(moment).replace("Z", "+02:00")
    assert _number(client, webhook, since=text) == 2
    assert _number(client, webhook, since=_at(past[1]).replace("Z", "999z").lower()) == 2


@pytest.mark.usefixtures("past")
def test_the_types_are_those_of_the_webhook_or_of_the_request(
    client: Client, stranger: Client
) -> None:
    make_project(stranger)
    subscribed = make_webhook(client, events=["project.created", "project.deleted"])
    assert _number(client, subscribed) == 2
    assert replays(client)[0]["event_types"] == ["project.created", "project.deleted"]
    assert _number(client, subscribed, event_types=["asset.created"]) == 1
    assert _number(client, subscribed, event_types=["*"]) == 3
    assert _number(client, subscribed, event_types=["member.joined"]) == 0


@pytest.mark.usefixtures("past")
def test_tests_are_not_sent_again(client: Client) -> None:
    webhook = make_webhook(client)
    client.post(f"/v1/webhooks/{webhook['id']}/test")
    assert _number(client, webhook) == 3


@pytest.mark.both
def test_only_what_failed(client: Client) -> None:
    webhook, other = make_webhook(client), make_webhook(client)
    make_project(client)
    set_deliveries(client, other["id"], "failed")
    own = rows_of(client.account_id, Delivery).where(Delivery.webhook_id == webhook["id"])
    for states, number in [
        (["failed"], 1),
        (["canceled"], 1),
        (["succeeded"], 0),
        (["pending"], 0),
        (["failed", "canceled"], 1),
        (["failed", "succeeded"], 0),
        (["failed", "pending"], 0),
    ]:
        with client.app.app_context(), transaction():
            former = db.session.scalars(own).all()
            db.session.add_all([_copy(former[0], state) for state in states])
            for row in former:
                db.session.delete(row)
        assert _number(client, webhook, only_failed=True) == number
        assert _number(client, webhook) == 1


def _copy(delivery: Any, state: str) -> Any:
    columns = {column.key: getattr(delivery, column.key) for column in delivery.__table__.columns}
    return type(delivery)(**columns | {"id": new_id("delivery"), "state": state, "due_at": None})


@pytest.mark.both
def test_the_job_selects_the_same_events(client: Client, past: list[dict[str, Any]]) -> None:
    webhook = make_webhook(client)
    _replay(client, webhook, event_types=["project.created"])
    (row,) = replays(client)
    chosen = select_events(Replay(**row))
    with client.app.app_context():
        found = db.session.scalars(chosen.order_by(Event.id)).all()
    assert found == [event["id"] for event in past[:2]]


def test_nothing_is_sent_again_to_a_disabled_webhook(client: Client) -> None:
    webhook = make_webhook(client)
    make_project(client)
    set_webhook(client, webhook["id"], enabled=False)
    answer = _replay(client, webhook)
    assert answer.status_code == 409
    assert "Enable it first" in answer.json["error"]["message"]
    assert replays(client) == []


def test_fields_that_are_refused(client: Client) -> None:
    webhook = make_webhook(client)
    wrong_times = [None, 0, "yesterday", "2026-01-02T03:04:05", "0001-01-01T00:00:00+14:00"]
    for fields, field in [
        *(({"since": moment}, "since") for moment in wrong_times),
        ({"until": "2026-02-30T00:00:00Z"}, "until"),
        ({"until": "2019-12-31T23:59:59.999Z"}, "until"),
        ({"event_types": []}, "event_types"),
        ({"event_types": ["webhook.test"]}, "event_types.0"),
        ({"event_types": "*"}, "event_types"),
        ({"only_failed": "yes"}, "only_failed"),
        ({"only_failed": None}, "only_failed"),
        ({"colour": "green"}, "colour"),
    ]:
        assert _fields_at_fault(_replay(client, webhook, **fields)) == [field]
    path = f"/v1/webhooks/{webhook['id']}/replay"
    assert _fields_at_fault(client.post(path, json={})) == ["since"]
    assert _fields_at_fault(client.post(path)) == ["body"]


def _progress(client: Client, webhook: dict[str, Any], replay_id: str) -> Any:
    return client.get(f"/v1/webhooks/{webhook['id']}/replays/{replay_id}")


def test_how_far_a_replay_is(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    monkeypatch.setattr(jobs, "CHUNK", 2)
    monkeypatch.setattr(jobs, "AHEAD", timedelta())
    begun = _replay(customer, webhook, only_failed=False).json["data"]["replay_id"]
    data = _progress(customer, webhook, begun).json["data"]
    assert data["replay_id"] == begun
    assert (data["status"], data["sent"], data["total"]) == ("running", 0, 3)
    assert data["since"] == LONG_AGO.replace("Z", ".000Z")
    assert (data["event_types"], data["only_failed"]) == (["project.created"], False)
    with customer.app.app_context():
        assert queue_replays() == 2
    assert _progress(customer, webhook, begun).json["data"]["sent"] == 0, "queued, not sent yet"
    receiver.answer = answering(500)
    deliver()
    data = _progress(customer, webhook, begun).json["data"]
    assert data["status"] == "running"
    assert data["sent"] in (1, 2), "attempted, with any result; the second one is due a bit later"
    assert data["retrying"] == data["sent"]


def test_a_finished_replay_is_told_of_until_the_next_one(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    first = _replay(customer, webhook).json["data"]["replay_id"]
    with customer.app.app_context():
        assert queue_replays() == 1
    assert _progress(customer, webhook, first).json["data"]["status"] == "running"
    assert deliver() == 1
    data = _progress(customer, webhook, first).json["data"]
    assert (data["status"], data["sent"], data["total"]) == ("finished", 1, 1)
    second = _replay(customer, webhook).json["data"]["replay_id"]
    assert _progress(customer, webhook, first).status_code == 404
    assert _progress(customer, webhook, second).status_code == 200
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
    assert _progress(customer, webhook, second).status_code == 404


def test_the_replay_of_another_account_is_not_found(client: Client, stranger: Client) -> None:
    webhook = make_webhook(client)
    replay_id = make_replay(client, webhook["id"])
    assert _progress(client, webhook, replay_id).status_code == 200
    assert _progress(stranger, webhook, replay_id).status_code == 404
