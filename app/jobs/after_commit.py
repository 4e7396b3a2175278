"""What is done in Valkey once a change is committed, such as starting a job.

What a job has to do is in the database, and a periodic job looks for it; this only makes it happen
at once. So while Valkey is down nothing is lost, and nobody is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from redis import Redis
from sqlalchemy import event
from sqlalchemy.orm import Session

from app.db.extensions import db
from app.db.noted import notes, take_notes
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal


def notify_after_commit(signal: WakeSignal) -> None:
    """Send a signal as soon as the open transaction is committed, once for all of it."""
    call_after_commit(signal.name, signal.notify)


def call_after_commit(name: str, call: Callable[[Redis], object]) -> None:
    """Do something in Valkey as soon as the open transaction is committed, once for each name.
    While Valkey is down it is not done."""
    notes()[_Call(name)] = call


class _Call(NamedTuple):
    """The name of a note that is a call."""

    name: str


@event.listens_for(db.session, "after_commit")
def _make_calls(session: Session) -> None:
    if session.in_nested_transaction():  # a savepoint is released
        return
    calls = {key.name: call for key, call in take_notes().items() if isinstance(key, _Call)}
    for _, call in sorted(calls.items()):
        valkey().attempt(call)
