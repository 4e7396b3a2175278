"""How many webhooks an account may have."""

from __future__ import annotations

from sqlalchemy import func

from app.auth.tenant import columns_of
from app.db.extensions import db
from app.http.errors import Detail, Forbidden
from app.models import Webhook
from app.policy.deliveries import WEBHOOKS_PER_ACCOUNT

_NUMBER = columns_of(Webhook).add_columns(func.count()).where(Webhook.deleted_at.is_(None))


def check_quota(account_id: str) -> None:
    """Raises Forbidden when the account has the maximum."""
    current = db.session.execute(_NUMBER, {"account_id": account_id}).scalar_one()
    if current >= WEBHOOKS_PER_ACCOUNT:
        raise Forbidden(
            "The account has reached its limit of webhooks. Delete one that you no longer need.",
            details=[
                Detail("limit", f"An account can have {WEBHOOKS_PER_ACCOUNT} webhooks."),
                Detail("current", f"The account has {current}, including disabled ones."),
            ],
        )
