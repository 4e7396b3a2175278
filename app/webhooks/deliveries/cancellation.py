"""Canceling the pending deliveries of a disabled or deleted webhook.

There may be very many. So disabling a webhook only stores the time, and the delivery job cancels
the rows in batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from sqlalchemy import Table, bindparam, delete, select, update

from app.db.column_types import Timestamp
from app.db.extensions import db
from app.events.outbox import NEW_DELIVERIES
from app.jobs.after_commit import notify_after_commit
from app.models import Delivery, Replay, Webhook
from app.values import clock
from app.webhooks.deliveries.types import ClaimedDelivery, PendingWebhook

_DELIVERIES = cast("Table", Delivery.__table__)
_WEBHOOKS = cast("Table", Webhook.__table__)
BATCH: Final = 500  # deliveries
_PENDING_SINCE_BEFORE = select(_DELIVERIES.c.id).where(
    _DELIVERIES.c.webhook_id == bindparam("webhook"),
    _DELIVERIES.c.due_at.is_not(None),
    _DELIVERIES.c.created_at <= bindparam("moment", type_=Timestamp),
)
_CANCEL_BATCH = (
    update(_DELIVERIES)
    .where(
        _DELIVERIES.c.id.in_(
            _PENDING_SINCE_BEFORE.where(_DELIVERIES.c.claim.is_(None)).limit(bindparam("limit"))
        )
    )
    .values(state="canceled", due_at=None)
)
_CLEAR_CANCELED_AT = (
    update(_WEBHOOKS)
    .where(
        _WEBHOOKS.c.id == bindparam("webhook"),
        _WEBHOOKS.c.canceled_at == bindparam("moment", type_=Timestamp),
        ~_PENDING_SINCE_BEFORE.exists(),
    )
    .values(canceled_at=None)
)
_CANCEL_CLAIMED = (
    update(_DELIVERIES)
    .where(
        _DELIVERIES.c.id.in_(bindparam("ids", expanding=True)),
        _DELIVERIES.c.claim == bindparam("run"),
    )
    .values(state="canceled", due_at=None, claim=None)
)


def cancel_pending(webhook: Webhook) -> None:
    """Let the delivery job cancel the deliveries that are pending now."""
    webhook.canceled_at = clock.now()
    end_replays(webhook.account_id, webhook.id)
    notify_after_commit(NEW_DELIVERIES)


def end_replays(account_id: str, webhook_id: str) -> None:
    """End the replays of a webhook."""
    own = delete(Replay).where(Replay.account_id == account_id, Replay.webhook_id == webhook_id)
    db.session.execute(own, execution_options={"synchronize_session": False})


def cancel_batch(webhook: PendingWebhook) -> bool:
    """Cancel a batch of the deliveries that were pending when a webhook was disabled, and clear
    ``canceled_at`` after the last. Returns True if more may be left."""
    values = {"webhook": webhook.webhook_id, "moment": webhook.canceled_at}
    result: Any = db.session.connection().execute(_CANCEL_BATCH, values | {"limit": BATCH})
    if result.rowcount >= BATCH:
        return True
    db.session.connection().execute(_CLEAR_CANCELED_AT, values)
    return False


def cancel_claimed(run_id: str, deliveries: Iterable[ClaimedDelivery]) -> None:
    """Cancel deliveries that this run has claimed."""
    if ids := [delivery.id for delivery in deliveries]:
        db.session.connection().execute(_CANCEL_CLAIMED, {"ids": ids, "run": run_id})
