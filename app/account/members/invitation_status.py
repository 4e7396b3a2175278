"""The state of invitations: their expiry, and the state of their mail."""

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


class InvitationStatus(NamedTuple):
    """The state of an invitation.

    Attributes:
        mail: ``sent``, ``queued``, ``delayed`` after a failed attempt, ``failed`` for good,
            ``dropped`` because of the limit for the address, or ``unknown`` because the mail was
            deleted since.
        error: why the last attempt to send the mail failed, or None.
    """

    invited_at: str | None
    expires_at: str | None
    has_ended: bool
    mail: str
    error: str | None


def invitation_statuses(account_id: str) -> dict[str, InvitationStatus]:
    """The states of the account's invitations, by the ids of the invited people."""
    return {row.user_id: _invitation_status(row) for row in _INVITED.all(account_id=account_id)}


def _invitation_status(row: Any) -> InvitationStatus:
    ends = row.invitation_expires_at
    has_ended = ends is not None and ends <= format_time(clock.now())
    return InvitationStatus(row.invited_at, ends, has_ended, _mail_state(row), row.error)


def _mail_state(row: Any) -> str:
    if row.mail_id is None:
        return "unknown"
    if row.sent_at is not None:
        return "sent"
    if row.due_at is not None:
        return "delayed" if row.error else "queued"
    return "failed" if row.error else "dropped"
