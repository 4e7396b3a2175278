"""Switching off all that this instance sends out, and on again, with what is held meanwhile."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import delete, func, select, update

from app.audit.entries import changes_of_new, write_instance_entry
from app.auth.tenant import ALL_ACCOUNTS, select_of_all_accounts
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.events.outbox import NEW_DELIVERIES
from app.jobs.after_commit import notify_after_commit
from app.mail.service import NEW_MAILS
from app.models import Delivery, Mail, Replay
from app.site.instance_state import locked_state
from app.values import clock

_DELIVERIES = CompiledQuery(
    select_of_all_accounts(func.count()).where(Delivery.due_at.is_not(None))
)
_REASON: Final = "the operator discarded it"  # why an email was not sent
_MAILS = CompiledQuery(select(func.count()).where(Mail.due_at.is_not(None)))


class Waiting(NamedTuple):
    """The numbers of deliveries and emails that wait to be sent, or to be tried again."""

    deliveries: int
    emails: int


def count_waiting() -> Waiting:
    """Count what waits, in all accounts."""
    return Waiting(_DELIVERIES.scalar(), _MAILS.scalar())


def switch_off() -> None:
    """Send nothing out from now on; what is being sent comes to its end. The caller commits."""
    state = locked_state()
    if state.outbound_off_at is None:
        state.outbound_off_at = clock.now()
        write_instance_entry("instance.outbound_off")


def switch_on(*, discard: bool) -> None:
    """Send again, as far as ``OUTBOUND`` allows. The caller commits.

    Args:
        discard: drop what waits. Deliveries count as canceled, so that their events can be sent
            again, and replays end.
    """
    state = locked_state()
    dropped = _drop_waiting() if discard else Waiting(0, 0)
    if state.outbound_off_at is not None or any(dropped):
        changes = changes_of_new({f"discarded_{key}": n for key, n in dropped._asdict().items()})
        write_instance_entry("instance.outbound_on", changes if any(dropped) else None)
    state.outbound_off_at = None
    notify_after_commit(NEW_DELIVERIES)
    notify_after_commit(NEW_MAILS)


def _drop_waiting() -> Waiting:
    running = delete(Replay).prefix_with(ALL_ACCOUNTS).where(Replay.ended_at.is_(None))
    db.session.execute(running)
    deliveries: Any = db.session.execute(
        update(Delivery)
        .prefix_with(ALL_ACCOUNTS)
        .where(Delivery.due_at.is_not(None))
        .values(state="canceled", due_at=None, claim=None)
    )
    mails: Any = db.session.execute(
        update(Mail).where(Mail.due_at.is_not(None)).values(due_at=None, sealed=None, error=_REASON)
    )
    return Waiting(deliveries.rowcount, mails.rowcount)
