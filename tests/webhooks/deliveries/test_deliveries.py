"""Events arrive: what is sent, to whom, and what is written down of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Webhook
from app.policy.deliveries import RETRY_AFTER
from app.values import clock
from app.values.clock import parse_time
from app.webhooks.deliveries import jobs
from tests.jobs.due import is_due
from tests.make import Client, events, make_project
from tests.make.webhooks import deliveries, make_webhook
from tests.outbound.receivers import Receiver, answering, in_turn, saying
from tests.webhooks.conftest import Deliver, Later, MakeReceiver


def logs(customer: Client, webhook: dict[str, str]) -> list[dict[str, object]]:
    """All entries, the oldest first."""
    answer = customer.get(f"/v1/webhooks/{webhook['id']}/logs?per_page=100")
    assert answer.status_code == 200
    return list(reversed(answer.json["data"]))


def record(customer: Client, webhook: dict[str, str]) -> dict[str, object]:
    return customer.get(f"/v1/webhooks/{webhook['id']}").json["data"]


@pytest.mark.both
def test_an_event_is_delivered_as_it_was_written(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    webhook = make_webhook(customer, url=receiver.url("/hook?a=b"), events=["project.created"])
    project = make_project(customer, name="Wald am Fluß")
    with customer.app.app_context():
        assert is_due(jobs.deliver)
    assert deliver() == 1
    (request,) = receiver.requests
    (event,) = events(customer)
    assert (request.method, request.path) == ("POST", "/hook?a=b")
    body = json.loads(request.body)
    assert body["id"] == event["id"]
    assert body["type"] == "project.created"
    assert body["data"]["name"] == project["name"]
    (delivery,) = deliveries(customer, webhook["id"])
    headers = request.headers
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "Canopy-Webhooks/1"
    assert headers["x-service-event"] == "project.created"
    assert headers["x-service-delivery"] == delivery["id"]
    assert headers["webhook-id"] == event["id"]
    assert (delivery["state"], delivery["due_at"], delivery["attempts"]) == ("succeeded", None, 1)


def test_only_subscribed_and_enabled_webhooks_get_an_event(
    customer: Client, stranger: Client, receiver: Receiver, deliver: Deliver
) -> None:
    make_webhook(customer, url=receiver.url("/all"))
    make_webhook(customer, url=receiver.url("/created"), events=["project.created"])
    make_webhook(customer, url=receiver.url("/deleted"), events=["project.deleted"])
    off = make_webhook(customer, url=receiver.url("/off"))
    customer.put(f"/v1/webhooks/{off['id']}", {"enabled": False})
    make_webhook(replace(stranger, app=customer.app), url=receiver.url("/stranger"))
    make_project(customer)
    deliver()
    assert sorted(request.path for request in receiver.requests) == ["/all", "/created"]


@pytest.mark.both
def test_the_schedule_is_kept_to_the_second(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = answering(503)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    for number, delay in enumerate(RETRY_AFTER, 1):
        deliver()
        assert len(receiver.requests) == number
        assert record(customer, webhook)["status"] == "failing"
        later(delay - timedelta(seconds=1))
        deliver()
        assert len(receiver.requests) == number, "a second too early"
        customer.put("/v1/account", {"name": f"Renamed {number}"})
        later(timedelta(seconds=1))
    deliver()
    entries = logs(customer, webhook)
    assert [entry["attempt"] for entry in entries] == [1, 2, 3, 4, 5, 6]
    waited = [
        (parse_time(entry["next_retry_at"]) - parse_time(entry["delivered_at"])).total_seconds()
        for entry in entries[:-1]
    ]
    assert waited == [60, 300, 1_800, 7_200, 86_400]
    assert "next_retry_at" not in entries[-1]
    for entry in entries:
        assert (entry["status"], entry["response_code"]) == ("failed", 503)
        assert entry["error"] == "answered 503"
        assert "response_time_ms" not in entry
    later(timedelta(days=2))
    deliver()
    assert len(receiver.requests) == 6
    assert len({request.body for request in receiver.requests}) == 1
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 6
    (delivery,) = deliveries(customer, webhook["id"])
    assert (delivery["state"], delivery["attempts"]) == ("failed", 6)
    make_project(customer)
    deliver()
    assert record(customer, webhook)["status"] == "failed", "although another waits for its retry"
    receiver.answer = answering(204)
    later(RETRY_AFTER[0])
    deliver()
    assert record(customer, webhook)["status"] == "healthy"


def test_a_new_address_forgets_what_was_given_up(customer: Client, receiver: Receiver) -> None:
    webhook = make_webhook(customer, url=receiver.url())
    with customer.app.app_context(), transaction():
        row = db.session.get_one(Webhook, webhook["id"])
        row.given_up_at, row.consecutive_failures = clock.now(), 6
    assert record(customer, webhook)["status"] == "failed"
    customer.put(f"/v1/webhooks/{webhook['id']}", {"url": receiver.url("/new")})
    assert record(customer, webhook)["status"] == "healthy"


def test_a_test_is_tried_once(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = answering(503)
    webhook = make_webhook(customer, url=receiver.url())
    customer.post(f"/v1/webhooks/{webhook['id']}/test")
    deliver()
    later(timedelta(days=2))
    deliver()
    (entry,) = logs(customer, webhook)
    assert "next_retry_at" not in entry
    assert record(customer, webhook)["status"] == "failing", "no event was given up"


def test_a_disabled_webhook_has_no_next_retry(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    receiver.answer = answering(503)
    webhook = make_webhook(customer, url=receiver.url())
    make_project(customer)
    deliver()
    (entry,) = logs(customer, webhook)
    assert "next_retry_at" in entry
    path = f"/v1/webhooks/{webhook['id']}"
    customer.put(path, {"enabled": False})
    (before,) = logs(customer, webhook)
    assert before == {name: entry[name] for name in entry if name != "next_retry_at"}
    deliver()  # which cancels it
    customer.put(path, {"enabled": True})
    assert logs(customer, webhook) == [before]
    assert "next_retry_at" not in customer.get(f"{path}/logs/{entry['id']}").json["data"]


def test_a_success_ends_the_schedule(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = in_turn(answering(500), saying(b"SSH-2.0\r\n\r\n"), answering(204))
    webhook = make_webhook(customer, url=receiver.url())
    make_project(customer)
    deliver()
    assert record(customer, webhook)["status"] == "failing"
    later(timedelta(seconds=60))
    deliver()
    assert record(customer, webhook)["consecutive_failures"] == 2
    later(timedelta(seconds=300))
    deliver()
    later(timedelta(days=2))
    deliver()
    errors = [entry.get("error") for entry in logs(customer, webhook)]
    assert errors == ["answered 500", "the response is not HTTP", None]
    last = logs(customer, webhook)[-1]
    assert (last["status"], last["response_code"]) == ("success", 204)
    assert last["response_time_ms"] >= 0
    found = record(customer, webhook)
    assert (found["status"], found["consecutive_failures"]) == ("healthy", 0)
    assert found["last_success_at"] == last["delivered_at"]


def test_a_redirect_is_a_failure(customer: Client, receiver: Receiver, deliver: Deliver) -> None:
    receiver.answer = answering(307, headers={"Location": receiver.url("/elsewhere")})
    webhook = make_webhook(customer, url=receiver.url("/here"))
    make_project(customer)
    assert deliver() == 0
    (entry,) = logs(customer, webhook)
    assert (entry["status"], entry["response_code"]) == ("failed", 307)
    assert [request.path for request in receiver.requests] == ["/here"]


def test_a_test_is_sent_to_one_webhook_even_if_it_is_disabled(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    make_webhook(customer, url=receiver.url("/other"))
    webhook = make_webhook(customer, url=receiver.url("/this"))
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
    queued = customer.post(f"/v1/webhooks/{webhook['id']}/test").json["data"]
    deliver()
    (request,) = receiver.requests
    assert request.path == "/this"
    body = json.loads(request.body)
    assert queued == {"event_id": body["id"], "event_type": "webhook.test", "status": "queued"}
    assert body["type"] == "webhook.test"
    assert body["data"]["webhook_id"] == webhook["id"]
    (entry,) = logs(customer, webhook)
    assert (entry["status"], entry["cause"]) == ("success", "test")


@pytest.mark.both
def test_a_test_is_sent_before_the_backlog(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(3):
        make_project(customer)
    later(timedelta(hours=1))
    customer.post(f"/v1/webhooks/{webhook['id']}/test")
    deliver()
    types = [request.headers["x-service-event"] for request in receiver.requests]
    assert types[0] == "webhook.test"
    assert len(types) == 4


@pytest.mark.both
def test_redelivery_is_one_more_attempt_of_the_same_bytes(
    customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = answering(500)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    deliver()
    (entry,) = logs(customer, webhook)
    answer = customer.post(f"/v1/webhooks/{webhook['id']}/logs/{entry['id']}/redeliver")
    deliver()
    later(timedelta(seconds=59))
    deliver()
    first, second = receiver.requests
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    again = logs(customer, webhook)[-1]
    assert answer.json["data"] == {
        "delivery_id": again["delivery_id"],
        "event_id": first.headers["webhook-id"],
        "event_type": "project.created",
        "status": "queued",
    }
    assert (again["cause"], again["attempt"]) == ("redelivery", 1)
    assert "next_retry_at" not in again


def test_a_changed_url_applies_to_pending_deliveries(
    customer: Client, make_receiver: MakeReceiver, deliver: Deliver, later: Later
) -> None:
    old, new = make_receiver(), make_receiver()
    old.answer = answering(500)
    webhook = make_webhook(customer, url=old.url(), events=["project.created"])
    make_project(customer)
    deliver()
    customer.put(f"/v1/webhooks/{webhook['id']}", {"url": new.url("/new")})
    later(timedelta(seconds=60))
    deliver()
    assert (len(old.requests), len(new.requests)) == (1, 1)
