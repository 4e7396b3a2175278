"""Locking a webhook until the end of the transaction."""

from __future__ import annotations

from app.auth.principal import Principal
from app.auth.tenant import find_locked, rows_of
from app.db.extensions import db
from app.http.errors import Conflict
from app.models import Webhook
from app.outbound.switch import NOTHING_SENT, is_outbound_off
from app.values.ids import is_id
from app.webhooks.record import not_found


def lock_webhook(principal: Principal, webhook_id: str) -> Webhook:
    """Lock a webhook of the account for a change. Raises NotFound.

    Events for it wait until the change is committed, so that a disabled webhook gets no more
    events.
    """
    is_valid = is_id("webhook", webhook_id)
    webhook = find_locked(principal.account_id, Webhook, webhook_id) if is_valid else None
    if webhook is None or webhook.deleted_at is not None:
        raise not_found()
    return webhook


def share_lock_webhook(principal: Principal, webhook_id: str) -> Webhook:
    """Lock a webhook to queue something for it: changes wait, events do not. Raises NotFound."""
    row = rows_of(principal.account_id, Webhook).where(
        Webhook.id == webhook_id, Webhook.deleted_at.is_(None)
    )
    is_valid = is_id("webhook", webhook_id)
    webhook = db.session.scalars(row.with_for_update(read=True)).one_or_none() if is_valid else None
    if webhook is None:
        raise not_found()
    return webhook


def check_outbound() -> None:
    """Raise Conflict if this instance sends nothing out."""
    if is_outbound_off():
        raise Conflict("outbound_off", "outbound", NOTHING_SENT)


def check_enabled(enabled: bool) -> None:
    """Raise Conflict if a webhook is disabled."""
    if not enabled:
        raise Conflict(
            "disabled",
            "enabled",
            "The webhook is disabled, so nothing can be sent again. Enable it first. "
            "Only tests are sent to a disabled webhook.",
        )
