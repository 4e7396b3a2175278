"""What is pending for a webhook is not sent any more."""

from __future__ import annotations

from sqlalchemy import delete

from app.core import clock
from app.core.bells import DELIVERIES_BELL
from app.core.waking import ring_after_commit
from app.extensions import db
from app.models import Replay, Webhook


def cancel_pending(webhook: Webhook) -> None:
    """Cancel what is pending at this moment. There may be very much of it, so the delivery job
    marks the rows, some at a time."""
    webhook.canceled_at = clock.now()
    end_replays(webhook.account_id, webhook.id)
    ring_after_commit(DELIVERIES_BELL)


def end_replays(account_id: str, webhook_id: str) -> None:
    """Queue no more events of the past for it."""
    own = delete(Replay).where(Replay.account_id == account_id, Replay.webhook_id == webhook_id)
    db.session.execute(own, execution_options={"synchronize_session": False})
