"""Leasing a mail to send, and saving the outcome.

A lease moves the time at which the mail is due: other workers skip it, and if the worker dies, the
mail becomes due again when the lease ends. ``attempts`` identifies the lease: a worker whose lease
has ended cannot overwrite a later outcome. Accounts take turns, so that the many invitations of one
keep nobody waiting.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select, update

from app.db.extensions import db
from app.db.queries import has_rows
from app.db.turns import next_in_turn
from app.models import Mail
from app.policy.mails import LEASE
from app.security.sealing import seal, unseal
from app.values import clock
from app.values.clock import format_optional_time, parse_time


class LeasedMail(NamedTuple):
    """A mail that only this worker sends until its lease ends."""

    id: str
    kind: str
    recipient: str
    sealed: str | None
    attempts: int  # including this one


class Contents(NamedTuple):
    """The values of a message, encrypted in the column ``sealed``."""

    values: dict[str, Any]
    resolved_at: datetime | None = None  # None until the mail is resolved

    def sealed(self) -> str:
        return seal([self.values, format_optional_time(self.resolved_at)])


def unseal_contents(mail: LeasedMail) -> Contents:
    """Unseal the contents of a mail. Raises ValueError if another ``SECRET_KEY`` sealed them."""
    values, resolved_at = unseal(mail.sealed or "")
    return Contents(values, None if resolved_at is None else parse_time(resolved_at))


def lease_mail() -> LeasedMail | None:
    """Lease the mail that has been due longest, of the account whose turn it is, or return None."""
    now = clock.now()
    due = next_in_turn(select(Mail.id).where(Mail.due_at <= now), Mail.turn_of, Mail.due_at)
    statement = (
        update(Mail)
        .where(Mail.id == due.scalar_subquery())
        .values(due_at=now + LEASE, leased_at=now, attempts=Mail.attempts + 1)
        .returning(Mail.id, Mail.kind, Mail.recipient, Mail.sealed, Mail.attempts)
    )
    row = db.session.execute(statement).one_or_none()
    return None if row is None else LeasedMail(*row)


def has_due_mail() -> bool:
    """True if a mail is due."""
    return has_rows(select(Mail).where(Mail.due_at <= clock.now()))


def store_contents(mail: LeasedMail, kind: str, contents: Contents) -> bool:
    """Store the final contents of a mail. Returns False if another worker has taken the lease."""
    return _update_mail(mail, kind=kind, sealed=contents.sealed())


def mark_sent(mail: LeasedMail) -> None:
    """Mark a mail as sent, even if another worker has its lease."""
    values = {"due_at": None, "sealed": None, "error": None, "sent_at": clock.now()}
    db.session.execute(update(Mail).where(Mail.id == mail.id).values(**values))


def mark_dropped(mail: LeasedMail) -> None:
    """Mark a mail as dropped."""
    _update_mail(mail, due_at=None, sealed=None, error=None)


def mark_failed(mail: LeasedMail, reason: str, retry_at: datetime | None) -> None:
    """Save a failed attempt. If ``retry_at`` is None, the mail is given up."""
    if retry_at is None:
        _update_mail(mail, due_at=None, sealed=None, error=reason)
    else:
        _update_mail(mail, due_at=retry_at, error=reason)


def _update_mail(mail: LeasedMail, **values: Any) -> bool:
    statement = update(Mail).where(
        Mail.id == mail.id, Mail.attempts == mail.attempts, Mail.sent_at.is_(None)
    )
    result: Any = db.session.execute(statement.values(**values))
    return bool(result.rowcount)
