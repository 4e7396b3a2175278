"""Mails to those who look after an account's webhooks: one fails for long, or is disabled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.extensions import db
from app.mail.service import queue_mail
from app.models import Account, Membership, User
from app.policy.deliveries import DISABLED_AFTER, WARNED_AFTER
from app.policy.permissions import ROLES
from app.values import clock
from app.values.clock import describe_duration, format_optional_time

FAILING: Final = "webhook_failing"
DISABLED: Final = "webhook_disabled"

_URL_SHOWN: Final = 300  # characters: a line of a mail has an end
_ROLES: Final = tuple(role for role, held in ROLES.items() if "admin" in held)
_ADMINS = (
    columns_of(Membership, User.id, User.email, User.name)
    .add_columns(Account.name.label("account_name"))
    .where(
        User.id == Membership.user_id,
        Account.id == Membership.account_id,
        Membership.joined_at.is_not(None),
        Membership.role.in_(bindparam("roles", expanding=True)),
    )
    .order_by(User.id)
)


def tell_admins(account_id: str, kind: str, webhook_id: str, values: Mapping[str, Any]) -> None:
    """Mail everybody who may change the account's webhooks, in the transaction at hand.

    Args:
        kind: ``webhook_failing`` or ``webhook_disabled``.
        values: of the webhook: ``url``, ``failing_since`` and, when it is disabled, ``reason``.
            Each person gets one mail of a kind about a webhook a day.
    """
    since: datetime = values["failing_since"] or clock.now()
    told = {
        "url": _shortened(values["url"]),
        "webhook_id": webhook_id,
        "reason": values.get("reason"),
        "since": format_optional_time(since),
        "life": describe_duration(DISABLED_AFTER),
        "disabled_at": format_optional_time(_disabled_at(since)),
        "path": f"/v1/webhooks/{webhook_id}",
    }
    occasion = f"{kind}:{webhook_id}:{clock.now():%Y-%m-%d}"
    for person in db.session.execute(_ADMINS, {"account_id": account_id, "roles": _ROLES}).all():
        whose = {"name": person.name, "account_name": person.account_name}
        queue_mail(kind, person.email, cause=f"{occasion}:{person.id}", values=told | whose)


def _disabled_at(since: datetime) -> datetime:
    """When a webhook is disabled, if nothing is received until then: a day from now at least."""
    return max(since + DISABLED_AFTER, clock.now() + (DISABLED_AFTER - WARNED_AFTER))


def _shortened(url: str) -> str:
    return url if len(url) <= _URL_SHOWN else f"{url[:_URL_SHOWN]}…"
