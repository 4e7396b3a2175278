"""Queueing a mail: a row in the transaction of the change that it tells of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.core import clock
from app.core.database import insert_into
from app.core.ids import new_id
from app.core.waking import wake_after_commit
from app.extensions import db
from app.mail.claims import Contents
from app.models import Mail

SEND: Final = "app.mail.jobs.send_mails"


def queue_mail(kind: str, recipient: str, *, cause: str, values: Mapping[str, Any]) -> None:
    """Queue a mail, which is sent after the transaction at hand is committed.

    Args:
        kind: one of ``app.mail.messages``, or one that ``app.people.service.resolve_mail`` knows.
        recipient: the address alone, without a name.
        cause: why it is sent, unique for it: a second mail for one cause is not queued.
        values: what the message needs, JSON; kept encrypted until it is sent.
    """
    moment = clock.now()
    row = insert_into(Mail).values(
        id=new_id("mail"),
        kind=kind,
        recipient=recipient,
        cause=cause,
        sealed=Contents(dict(values)).sealed(),
        attempts=0,
        due_at=moment,
        created_at=moment,
    )
    db.session.execute(row.on_conflict_do_nothing(index_elements=[Mail.cause]))
    wake_after_commit(SEND)
