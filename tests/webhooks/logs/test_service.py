"""One entry of a webhook's log, and sending again what it is about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Event
from app.values import clock
from tests.make import Client, deliveries, events, make_log, make_project, make_webhook
from tests.make.webhooks import set_deliveries, set_webhook

MOMENT = clock.parse_time("2026-01-02T03:04:05.678Z")
TIMING = {"resolve_ms": 3, "connect_ms": None, "tls_ms": None, "wait_ms": 58}


class Entry:
    """An entry about a project's event, which is kept."""

    def __init__(self, client: Client, **columns: Any) -> None:
        self.client, self.webhook = client, make_webhook(client)
        make_project(client)
        self.event = events(client)[-1]
        self.id = make_log(client, self.webhook["id"], self.event["id"], **columns)
        self.path = f"/v1/webhooks/{self.webhook['id']}/logs/{self.id}"

    def forget_event(self) -> None:
        with self.client.app.app_context(), transaction():
            own = rows_of(self.client.account_id, Event).where(Event.id == self.event["id"])
            db.session.delete(db.session.scalars(own).one())


@pytest.fixture
def entry(client: Client) -> Entry:
    return Entry(client, sent_at=MOMENT, delivered_at=MOMENT, **TIMING)


def test_an_entry(client: Client, entry: Entry) -> None:
    shown = client.get(entry.path).json["data"]
    (listed,) = client.get(f"/v1/webhooks/{entry.webhook['id']}/logs").json["data"]
    assert shown == listed | {
        "request": {
            "headers": {
                "Content-Type": "application/json",
                "User-Agent": "Canopy-Webhooks/1",
                "X-Service-Event": "project.created",
                "X-Service-Delivery": listed["delivery_id"],
                "webhook-id": entry.event["id"],
                "webhook-timestamp": "1767323045",
            }
        },
        "timing": TIMING | {"total_ms": 124},
        "event": entry.event,
    }


def test_the_event_is_byte_for_byte_what_was_sent(client: Client, entry: Entry) -> None:
    with client.app.app_context():
        own = rows_of(client.account_id, Event).where(Event.id == entry.event["id"])
        body = db.session.scalars(own).one().body
    assert f'"event":{body}' in client.get(entry.path).get_data(as_text=True)


@pytest.mark.both
def test_a_deleted_event_is_left_out(client: Client, entry: Entry) -> None:
    entry.forget_event()
    assert "event" not in client.get(entry.path).json["data"]


def test_an_entry_of_another_webhook_is_not_found(client: Client, entry: Entry) -> None:
    other = make_webhook(client)
    assert client.get(f"/v1/webhooks/{other['id']}/logs/{entry.id}").status_code == 404
    client.delete(f"/v1/webhooks/{entry.webhook['id']}")
    assert client.get(entry.path).status_code == 404
    assert client.post(f"{entry.path}/redeliver").status_code == 404


def test_a_redelivery_is_sent_before_the_backlog(client: Client, entry: Entry) -> None:
    overdue = clock.now() - timedelta(hours=3)
    set_deliveries(client, entry.webhook["id"], "pending", due_at=overdue)
    for number in (1, 2):
        client.post(f"{entry.path}/redeliver")
        due_at = deliveries(client)[-1]["due_at"]
        assert due_at == overdue - timedelta(milliseconds=number)
    set_deliveries(client, entry.webhook["id"], "pending", due_at=clock.now() + timedelta(hours=3))
    client.post(f"{entry.path}/redeliver")
    assert deliveries(client)[-1]["due_at"] <= clock.now(), "it does not wait for what is due later"


def test_nothing_is_sent_again_to_a_disabled_webhook(client: Client, entry: Entry) -> None:
    set_webhook(client, entry.webhook["id"], enabled=False)
    answer = client.post(f"{entry.path}/redeliver")
    assert answer.status_code == 409
    assert "Enable it first" in answer.json["error"]["message"]
    assert len(deliveries(client)) == 1


def test_a_deleted_event_cannot_be_redelivered(client: Client, entry: Entry) -> None:
    entry.forget_event()
    answer = client.post(f"{entry.path}/redeliver")
    assert answer.status_code == 409
    assert "is no longer kept" in answer.json["error"]["message"]
    assert deliveries(client) == []
