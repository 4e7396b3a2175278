"""Cancellation: pending deliveries of a disabled or deleted webhook are not sent.

A webhook may have very many pending deliveries. So disabling it only notes the time, and the
delivery job cancels the rows, some at a time.
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
_CANCELED_AT_ONCE: Final = 500  # deliveries
_PENDING_SINCE_BEFORE = select(_DELIVERIES.c.id).where(
    _DELIVERIES.c.webhook_id == bindparam("webhook"),
    _DELIVERIES.c.due_at.is_not(None),
    _DELIVERIES.c.created_at <= bindparam("moment", type_=Timestamp),
)
_CANCEL_SOME = (
    update(_DELIVERIES)
    .where(
        _DELIVERIES.c.id.in_(
            _PENDING_SINCE_BEFORE.where(_DELIVERIES.c.claim.is_(None)).limit(bindparam("most"))
        )
    )
    .values(state="canceled", due_at=None)
)
_ALL_CANCELED = (
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
    """Have the delivery job cancel the deliveries that are pending now."""
    webhook.canceled_at = clock.now()
    end_replays(webhook.account_id, webhook.id)
    notify_after_commit(NEW_DELIVERIES)


def end_replays(account_id: str, webhook_id: str) -> None:
    """End the replays of a webhook."""
    own = delete(Replay).where(Replay.account_id == account_id, Replay.webhook_id == webhook_id)
    db.session.execute(own, execution_options={"synchronize_session": False})


def cancel_some(webhook: PendingWebhook) -> bool:
    """Cancel some deliveries that were pending for a webhook when it was disabled, due or not, and
    clear ``canceled_at`` after the last. Returns True if more may be left."""
    values = {"webhook": webhook.webhook_id, "moment": webhook.canceled_at}
    some = values | {"most": _CANCELED_AT_ONCE}
    result: Any = db.session.connection().execute(_CANCEL_SOME, some)
    if result.rowcount >= _CANCELED_AT_ONCE:
        return True
    db.session.connection().execute(_ALL_CANCELED, values)
    return False


def cancel_claimed(run_id: str, deliveries: Iterable[ClaimedDelivery]) -> None:
    """Cancel deliveries that this run has claimed."""
    if ids := [delivery.id for delivery in deliveries]:
        db.session.connection().execute(_CANCEL_CLAIMED, {"ids": ids, "run": run_id})
