"""Sending tests and redeliveries before the backlog, as somebody waits for them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Delivery
from app.values import clock

_BEFORE: Final = timedelta(milliseconds=1)


def due_before_pending(account_id: str, webhook_id: str) -> datetime:
    """Return the current time or, if deliveries are overdue, a moment before the oldest of them."""
    pending = rows_of(account_id, Delivery).where(
        Delivery.webhook_id == webhook_id, Delivery.due_at.is_not(None)
    )
    first = pending.with_only_columns(Delivery.due_at).order_by(Delivery.due_at).limit(1)
    due_at, moment = db.session.scalars(first).first(), clock.now()
    return moment if due_at is None else min(moment, due_at - _BEFORE)
