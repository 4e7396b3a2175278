"""What was written into the outbox."""

from __future__ import annotations

from typing import Any

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Event
from app.values.strict_json import loads
from tests.make.accounts import Client


def events(client: Client) -> list[dict[str, Any]]:
    """The envelopes of all events of the account, the oldest first."""
    with client.app.app_context():
        rows = db.session.scalars(rows_of(client.account_id, Event).order_by(Event.id))
        return [loads(row.body.encode()) for row in rows]


def event_types(client: Client) -> list[str]:
    """Their types."""
    return [event["type"] for event in events(client)]
