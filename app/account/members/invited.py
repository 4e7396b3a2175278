"""Invited people: until when they can join, and what became of the mail to them."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import literal

from app.account.members.invitations import MAIL
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import Mail, Membership
from app.values import clock
from app.values.clock import format_time

_CAUSE = literal(f"{MAIL}:") + Membership.account_id + ":" + Membership.invitation_hash
_INVITED = CompiledQuery(
    columns_of(
        Membership,
        Membership.user_id,
        Membership.invited_at,
        Membership.invitation_expires_at,
        Mail.due_at,
        Mail.sent_at,
        Mail.error,
    )
    .add_columns(Mail.id.label("mail_id"))
    .select_from(Membership)
    .outerjoin(Mail, Mail.cause == _CAUSE)
    .where(Membership.joined_at.is_(None))
)


class Invited(NamedTuple):
    """An invitation.

    Attributes:
        mail: ``sent``, ``queued``, ``delayed`` after an attempt that failed, ``failed`` for good,
            ``dropped`` as there were too many, or ``unknown``: mails are kept for a time only.
        error: why the last attempt failed; None when it did not.
    """

    invited_at: str | None
    expires_at: str | None
    has_ended: bool
    mail: str
    error: str | None


def list_invited(account_id: str) -> dict[str, Invited]:
    """The account's invitations by the ids of the people."""
    return {row.user_id: _invited(row) for row in _INVITED.all(account_id=account_id)}


def _invited(row: Any) -> Invited:
    ends = row.invitation_expires_at
    has_ended = ends is not None and ends <= format_time(clock.now())
    return Invited(row.invited_at, ends, has_ended, _state(row), row.error)


def _state(row: Any) -> str:
    if row.mail_id is None:
        return "unknown"
    if row.sent_at is not None:
        return "sent"
    if row.due_at is not None:
        return "delayed" if row.error else "queued"
    return "failed" if row.error else "dropped"
