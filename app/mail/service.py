"""Queueing mails in the transaction of the change that they report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.db.engines import insert_into
from app.db.extensions import db
from app.jobs.after_commit import notify_after_commit
from app.jobs.queue import MAILS
from app.jobs.wake_signals import WakeSignal
from app.mail.leases import Contents
from app.models import Mail
from app.policy.mails import RUN_FOR
from app.values import clock
from app.values.ids import new_id

# The job ends before this timeout.
NEW_MAILS: Final = WakeSignal("mails", MAILS, job_timeout=int(RUN_FOR) + 90)


def queue_mail(
    kind: str, recipient: str, *, cause: str, values: Mapping[str, Any], account_id: str = ""
) -> None:
    """Queue a mail, to be sent after the current transaction is committed.

    Args:
        kind: a kind of ``app.mail.messages``, or one with a resolver (``app.mail.resolvers``).
        recipient: the address, without a name.
        cause: a key for the reason; only one mail is queued for each.
        values: JSON values for the message, stored encrypted until it is sent.
        account_id: the account that sends it. Accounts take turns; mails without one share a turn.
    """
    now = clock.now()
    row = insert_into(Mail).values(
        id=new_id("mail"),
        kind=kind,
        recipient=recipient,
        cause=cause,
        turn_of=account_id,
        sealed=Contents(dict(values)).sealed(),
        attempts=0,
        due_at=now,
        created_at=now,
    )
    db.session.execute(row.on_conflict_do_nothing(index_elements=[Mail.cause]))
    notify_after_commit(NEW_MAILS)
