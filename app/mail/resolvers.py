"""Resolvers decide which mail is sent in place of a queued one, if any, when it is due.

An address is looked up when the mail is sent, not when it is queued: the duration of the request
would reveal if it is registered. The module that queues a kind of mail has its resolver;
``app.core`` collects them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from flask import Flask, current_app
from sqlalchemy import and_, func, or_, select

from app.db.extensions import db
from app.models import Mail
from app.policy.people import MAILS_AN_HOUR
from app.values import clock

Resolved = tuple[str, dict[str, Any]] | None  # the kind and the values of the mail to send
Resolver = Callable[[str, dict[str, Any]], Resolved]  # takes the recipient and the queued values

_EXTENSION: Final = "canopy_mail_resolvers"


def init_app(app: Flask, resolvers: Mapping[str, Resolver]) -> None:
    """Register the resolvers, by the kind of the queued mail."""
    app.extensions[_EXTENSION] = resolvers


def resolve_mail(kind: str, recipient: str, values: dict[str, Any]) -> Resolved:
    """Return the mail to send for a queued one, or None to drop it.

    A kind without a resolver is sent as it was queued. Called once for each mail, in the
    transaction that stores the result.
    """
    resolver: Resolver | None = current_app.extensions[_EXTENSION].get(kind)
    return (kind, values) if resolver is None else resolver(recipient, values)


def is_over_mail_limit(recipient: str, kinds: tuple[str, ...], cause: str = "") -> bool:
    """True if an address got ``MAILS_AN_HOUR`` mails of these kinds in the last hour, with
    those that wait for another attempt.

    Args:
        cause: count only mails whose cause begins with this.
    """
    now = clock.now()
    is_recent = Mail.sent_at > now - timedelta(hours=1)
    is_delayed = and_(Mail.due_at.is_not(None), Mail.error.is_not(None))
    count = select(func.count()).where(
        Mail.created_at > now - timedelta(days=1),  # has an index; hardly any mail waits longer
        func.lower(Mail.recipient) == recipient.lower(),
        Mail.kind.in_(kinds),
        Mail.cause.startswith(cause, autoescape=True),
        or_(is_recent, is_delayed),
    )
    return bool(db.session.scalars(count).one() >= MAILS_AN_HOUR)
