"""Finding a webhook for a change, and keeping it until the end of the transaction."""

from __future__ import annotations

from app.auth.principal import Principal
from app.auth.tenant import find_locked, rows_of
from app.db.extensions import db
from app.http.errors import Conflict
from app.models import Webhook
from app.values.ids import is_id
from app.webhooks.record import not_found


def lock_webhook(principal: Principal, webhook_id: str) -> Webhook:
    """A webhook of the account. Raises NotFound.

    ``FOR UPDATE``: an event that is being written to it is written first, or waits and then finds
    it as it is after the change. So what is disabled gets nothing from then on.
    """
    found = is_id("webhook", webhook_id)
    webhook = find_locked(principal.account_id, Webhook, webhook_id) if found else None
    if webhook is None or webhook.deleted_at is not None:
        raise not_found()
    return webhook


def hold_webhook(principal: Principal, webhook_id: str) -> Webhook:
    """The same for what only has something sent to it: nobody changes it meanwhile, and events do
    not wait. Raises NotFound."""
    own = rows_of(principal.account_id, Webhook).where(
        Webhook.id == webhook_id, Webhook.deleted_at.is_(None)
    )
    found = is_id("webhook", webhook_id)
    held = db.session.scalars(own.with_for_update(read=True)).one_or_none() if found else None
    if held is None:
        raise not_found()
    return held


def check_enabled(enabled: bool, refusal: str) -> None:
    """Raises Conflict for a webhook that is disabled.

    Args:
        refusal: what is not done then.
    """
    if not enabled:
        raise Conflict(
            f"The webhook is disabled, so {refusal}. Enable it first; a test is sent to it all the "
            "same."
        )
