"""What is pending for a webhook is not sent any more."""

from __future__ import annotations

from sqlalchemy import delete

from app.db.extensions import db
from app.jobs.after_commit import notify_after_commit
from app.models import Replay, Webhook
from app.outbox import NEW_DELIVERIES
from app.values import clock


def cancel_pending(webhook: Webhook) -> None:
    """Cancel what is pending at this moment. There may be very much of it, so the delivery job
    marks the rows, some at a time."""
    webhook.canceled_at = clock.now()
    end_replays(webhook.account_id, webhook.id)
    notify_after_commit(NEW_DELIVERIES)


def end_replays(account_id: str, webhook_id: str) -> None:
    """Queue no more events of the past for it."""
    own = delete(Replay).where(Replay.account_id == account_id, Replay.webhook_id == webhook_id)
    db.session.execute(own, execution_options={"synchronize_session": False})
