"""What is pending for a disabled or deleted webhook is not sent."""

from __future__ import annotations

import pytest
from flask import Flask

from app.webhooks.deliveries import cancellation
from app.webhooks.replays.jobs import queue_replays
from tests.make import Client, make_project
from tests.make.webhooks import deliveries, make_webhook, replays, webhook_row
from tests.outbound.receivers import Receiver, answering
from tests.webhooks.conftest import Deliver
from tests.webhooks.deliveries.test_replaying import replay


@pytest.mark.both
def test_what_is_pending_is_canceled_when_a_webhook_is_disabled(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(3):
        make_project(customer)
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": True})
    deliver()
    assert receiver.requests == []
    assert {row["state"] for row in deliveries(customer, webhook["id"])} == {"canceled"}
    make_project(customer)
    assert deliver() == 1


def test_what_is_pending_is_canceled_when_a_webhook_is_deleted(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    customer.delete(f"/v1/webhooks/{webhook['id']}")
    deliver()
    assert receiver.requests == []
    assert [row["state"] for row in deliveries(customer, webhook["id"])] == ["canceled"]
    row = webhook_row(customer, webhook["id"])
    assert (row["sealed_secret"], row["sealed_former_secret"]) == ("", None)


def test_many_deliveries_are_canceled_in_several_steps(
    customer: Client, receiver: Receiver, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(7):
        make_project(customer)
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
    monkeypatch.setattr(cancellation, "BATCH", 2)
    deliver()
    rows = deliveries(customer, webhook["id"])
    assert [row["state"] for row in rows] == ["canceled"] * 7


def test_a_replay_ends_when_its_webhook_is_disabled(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    make_project(customer)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    replay(customer, webhook)
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": False})
    customer.put(f"/v1/webhooks/{webhook['id']}", {"enabled": True})
    assert replays(customer) == []
    with delivering.app_context():
        assert queue_replays() == 0


@pytest.mark.both
def test_a_replay_ends_when_its_receiver_is_gone(
    customer: Client, receiver: Receiver, deliver: Deliver
) -> None:
    receiver.answer = answering(410)
    webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    replay(customer, webhook)
    deliver()
    assert replays(customer) == []
