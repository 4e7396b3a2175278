"""Which mail goes out for one that was queued.

It is found out when the mail is sent: a request that looked would tell by its time who is known.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import func, select

from app.core import clock
from app.extensions import db
from app.members.service import find_invitation
from app.models import Mail
from app.people import links, sign_up
from app.policy.people import MAILS_AN_HOUR

# Mails that are counted together, for each address; the first are those that anybody can have sent.
_SIGN_UPS: Final = ("confirm_sign_up", "sign_up_known")
_RESETS: Final = (links.RESET,)
_INVITATION: Final = "invitation"
_CHANGED: Final = "password_changed"


def resolve_mail(
    kind: str, recipient: str, values: dict[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    """The mail that is sent for a queued one, or None when nobody gets any.

    Called once, in the transaction that keeps the outcome.
    """
    if kind == sign_up.MAIL:
        is_full = _too_many(recipient, _SIGN_UPS)
        return None if is_full else sign_up.mail_of_sign_up(recipient, values)
    if kind == links.FORGOT:
        return None if _too_many(recipient, _RESETS) else links.mail_of_reset(recipient)
    if kind == _INVITATION:
        return None if _is_spent(recipient, values) else (kind, values)
    if kind == _CHANGED and _too_many(recipient, (_CHANGED,)):
        return None
    return kind, values


def _is_spent(recipient: str, values: dict[str, Any]) -> bool:
    """Whether an invitation was taken back, or its account has mailed too many to the address."""
    found = find_invitation(values["link"].rpartition("/")[2])
    return found is None or _too_many(
        recipient, (_INVITATION,), f"{_INVITATION}:{found.account_id}"
    )


def _too_many(recipient: str, kinds: tuple[str, ...], cause: str = "") -> bool:
    """Whether so many mails of these kinds were sent to an address that it gets no more for a
    while.

    Args:
        cause: only those are counted whose cause begins so.
    """
    recent = select(func.count()).where(
        Mail.created_at > clock.now() - timedelta(hours=1),
        func.lower(Mail.recipient) == recipient.lower(),
        Mail.kind.in_(kinds),
        Mail.cause.startswith(cause, autoescape=True),
        Mail.sent_at.is_not(None),
    )
    return bool(db.session.scalars(recent).one() >= MAILS_AN_HOUR)
