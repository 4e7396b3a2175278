"""Taking a mail to send, and noting what became of it.

A mail is taken by putting its time off: whoever looks meanwhile passes it over, and when a worker
dies with it, it is due again as soon as that time has come. ``attempts`` tells which taking is the
last one; a worker that comes back late from an earlier one changes nothing any more.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select, update

from app.db.extensions import db
from app.models import Mail
from app.policy.mails import LEASE
from app.security.sealing import seal, unseal
from app.values import clock
from app.values.clock import format_time, parse_time


class LeasedMail(NamedTuple):
    """A mail that nobody else sends for a while."""

    id: str
    kind: str
    recipient: str
    sealed: str | None
    attempts: int  # with this one


class Contents(NamedTuple):
    """What ``sealed`` holds: the values of a message, and whether those are the final ones."""

    values: dict[str, Any]
    resolved_at: datetime | None = None

    def sealed(self) -> str:
        moment = self.resolved_at
        return seal([self.values, None if moment is None else format_time(moment)])


def open_contents(claim: LeasedMail) -> Contents:
    """What the mail says. Raises ValueError when it was sealed with another ``SECRET_KEY``."""
    values, moment = unseal(claim.sealed or "")
    return Contents(values, None if moment is None else parse_time(moment))


def lease_next() -> LeasedMail | None:
    """Take the mail that has waited longest, or None when none is due."""
    moment = clock.now()
    due = (
        select(Mail.id)
        .where(Mail.due_at <= moment)
        .order_by(Mail.due_at)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    taking = (
        update(Mail)
        .where(Mail.id == due)
        .values(due_at=moment + LEASE, attempts=Mail.attempts + 1)
        .returning(Mail.id, Mail.kind, Mail.recipient, Mail.sealed, Mail.attempts)
    )
    row = db.session.execute(taking).one_or_none()
    return None if row is None else LeasedMail(*row)


def keep_contents(claim: LeasedMail, kind: str, contents: Contents) -> bool:
    """Keep what the mail says from now on. False when somebody else has taken it meanwhile."""
    return _note(claim, kind=kind, sealed=contents.sealed())


def note_sent(claim: LeasedMail) -> None:
    """It was sent, whoever has taken it meanwhile."""
    row = update(Mail).where(Mail.id == claim.id)
    done = {"due_at": None, "sealed": None, "error": None, "sent_at": clock.now()}
    db.session.execute(row.values(**done))


def note_dropped(claim: LeasedMail) -> None:
    """Nobody is to get it."""
    _note(claim, due_at=None, sealed=None, error=None)


def note_failed(claim: LeasedMail, reason: str, again_at: datetime | None) -> None:
    """It failed, and is tried again then, or never."""
    if again_at is None:
        _note(claim, due_at=None, sealed=None, error=reason)
    else:
        _note(claim, due_at=again_at, error=reason)


def _note(claim: LeasedMail, **values: Any) -> bool:
    row = update(Mail).where(
        Mail.id == claim.id, Mail.attempts == claim.attempts, Mail.sent_at.is_(None)
    )
    result: Any = db.session.execute(row.values(**values))
    return bool(result.rowcount)
