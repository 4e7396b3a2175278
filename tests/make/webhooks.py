"""Webhooks, made through the API, and what is queued and was attempted for them."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import AttemptCount, Delivery, DeliveryLog, Event, Replay, Webhook
from app.values import clock
from app.values.ids import new_id
from app.webhooks.deliveries import cancellation
from tests.make.accounts import Client

_numbers = itertools.count(1)


def make_webhook(client: Client, /, **fields: Any) -> dict[str, Any]:
    """The answer to the creation of a webhook, with its secret; it gets all events."""
    body = {"url": f"https://hooks.example.org/{next(_numbers)}", "events": ["*"]} | fields
    response = client.post("/v1/webhooks", json=body)
    assert response.status_code == 201, response.get_data(as_text=True)
    return response.json["data"]


def make_webhook_at(client: Client, url: str, **fields: Any) -> dict[str, Any]:
    """A webhook with a URL that the API would refuse."""
    made = make_webhook(client, **fields)
    with client.app.app_context(), transaction():
        db.session.get_one(Webhook, made["id"]).url = url
    return made | {"url": url}


def make_log(client: Client, webhook_id: str, event_id: str, **columns: Any) -> str:
    """The id of a new entry of a webhook's log, about an attempt that failed unless ``columns`` say
    otherwise."""
    with client.app.app_context(), transaction():
        event = db.session.scalars(rows_of(client.account_id, Event).where(Event.id == event_id))
        kept, moment = event.one_or_none(), clock.now()
        row = DeliveryLog(
            account_id=client.account_id,
            webhook_id=webhook_id,
            event_id=event_id,
            **{
                "id": new_id("log"),
                "delivery_id": new_id("delivery"),
                "event_type": kept.type if kept else "project.created",
                "cause": "event",
                "attempt": 1,
                "status": "failed",
                "response_code": 503,
                "response_time_ms": 124,
                "error": "answered 503",
                "sent_at": moment,
                "delivered_at": moment + timedelta(milliseconds=124),
            }
            | columns,
        )
        db.session.add(row)
        return str(row.id)


def make_attempts(
    client: Client, webhook_id: str, ago: timedelta, status: str, number: int, took_ms: int = 0
) -> None:
    """Have so many attempts been counted, in an hour so long ago."""
    hour = clock.now().replace(minute=0, second=0, microsecond=0) - ago
    row = AttemptCount(
        account_id=client.account_id, webhook_id=webhook_id, hour=hour, status=status,
        took_ms=took_ms, number=number,
    )  # fmt: skip
    with client.app.app_context(), transaction():
        db.session.add(row)


def make_replay(client: Client, webhook_id: str, **columns: Any) -> str:
    """The id of a new replay of two events, all queued unless ``columns`` say otherwise."""
    moment = clock.now()
    row = Replay(
        account_id=client.account_id,
        webhook_id=webhook_id,
        **{
            "id": new_id("replay"),
            "since": moment - timedelta(days=1),
            "until": moment,
            "event_types": ["project.created"],
            "only_failed": False,
            "last_event_id": "",
            "next_at": moment,
            "created_at": moment,
            "total": 2,
            "queued": 2,
            "ended_at": moment,
        }
        | columns,
    )
    with client.app.app_context(), transaction():
        db.session.add(row)
        return str(row.id)


def deliveries(client: Client, webhook_id: str | None = None) -> list[dict[str, Any]]:
    """The deliveries of the account, or of one webhook, the oldest first."""
    own = rows_of(client.account_id, Delivery).order_by(Delivery.id)
    if webhook_id is not None:
        own = own.where(Delivery.webhook_id == webhook_id)
    return _columns(client, own)


def replays(client: Client) -> list[dict[str, Any]]:
    """The replays of the account that are not done, the oldest first."""
    own = rows_of(client.account_id, Replay).where(Replay.ended_at.is_(None))
    return _columns(client, own.order_by(Replay.id))


def forget_webhooks(client: Client) -> None:
    """Leave the account without webhooks: an account can have so many."""
    with client.app.app_context(), transaction():
        db.session.execute(delete(Webhook).where(Webhook.account_id == client.account_id))


def end_replays(client: Client, webhook_id: str) -> None:
    """Have the replays of a webhook done."""
    with client.app.app_context(), transaction():
        cancellation.end_replays(client.account_id, webhook_id)


def set_webhook(client: Client, webhook_id: str, **columns: Any) -> None:
    """Bring a webhook into a state that deliveries would."""
    with client.app.app_context(), transaction():
        webhook = db.session.get_one(Webhook, webhook_id)
        for name, value in columns.items():
            setattr(webhook, name, value)


def webhook_row(client: Client, webhook_id: str) -> dict[str, Any]:
    """All columns of a webhook."""
    own = rows_of(client.account_id, Webhook).where(Webhook.id == webhook_id)
    (row,) = _columns(client, own)
    return row


def set_deliveries(
    client: Client, webhook_id: str, state: str, *, due_at: datetime | None = None
) -> None:
    """Have deliveries of a webhook come to an end, or wait."""
    with client.app.app_context(), transaction():
        own = rows_of(client.account_id, Delivery).where(Delivery.webhook_id == webhook_id)
        for row in db.session.scalars(own):
            row.state, row.due_at = state, due_at


def _columns(client: Client, own: Any) -> list[dict[str, Any]]:
    with client.app.app_context():
        return [
            {column.key: getattr(row, column.key) for column in row.__table__.columns}
            for row in db.session.scalars(own)
        ]
