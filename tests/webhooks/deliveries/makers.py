"""Pending webhooks, claimed deliveries and outcomes for tests without a database; queued deliveries
for those with one."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from app.db.transactions import transaction
from app.events.outbox import queue_deliveries
from app.outbound import Timing
from app.values.ids import new_id_at
from app.webhooks.deliveries.types import ClaimedDelivery, Outcome, PendingWebhook
from tests.make import Client, events, make_project

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
URL = "https://hooks.example.org/"
NO_TIMING = Timing(None, None, None, None)
_numbers = itertools.count(1)


def pending(webhook_id: str, **columns: object) -> PendingWebhook:
    """A webhook whose last attempt succeeded."""
    row = {
        "webhook_id": webhook_id,
        "account_id": f"account of {webhook_id}",
        "url": URL,
        "enabled": True,
        "sealed_secret": "",
        "sealed_former_secret": None,
        "former_secret_until": None,
        "last_success_at": MOMENT,
        "consecutive_failures": 0,
        "canceled_at": None,
        "due_at": MOMENT,
    }
    return PendingWebhook(**(row | columns))


def claimed(webhook_id: str, **columns: object) -> ClaimedDelivery:
    number = next(_numbers)
    row = {
        "id": f"dlv_{number}",
        "account_id": f"account of {webhook_id}",
        "webhook_id": webhook_id,
        "event_id": new_id_at("event", MOMENT),
        "event_type": "project.created",
        "body": "{}",
        "cause": "event",
        "attempt": 1,
        "due_at": MOMENT,
        "created_at": MOMENT,
    }
    return ClaimedDelivery(**(row | columns))


def outcome(sent: ClaimedDelivery, *, error: str | None = None, seconds: float = 0.01) -> Outcome:
    ended_at = MOMENT + timedelta(seconds=seconds)
    return Outcome(sent, URL, MOMENT, ended_at, seconds, NO_TIMING, None if error else 200, error)


def queue(customer: Client, number: int, *webhooks: dict[str, str]) -> None:
    """Queue this number of deliveries for each webhook, due now."""
    if not events(customer):
        make_project(customer)
    event_id = events(customer)[0]["id"]
    with customer.app.app_context(), transaction():
        for _ in range(number):
            ids = [webhook["id"] for webhook in webhooks]
            queue_deliveries(customer.account_id, event_id, ids, cause="redelivery")
