"""Calls to Valkey after the commit of a change, such as starting a job.

They only save time: the database says what a job has to do, and a periodic job looks for it. So
nothing is lost while Valkey is down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from redis import Redis
from sqlalchemy import event
from sqlalchemy.orm import Session

from app.db.extensions import db
from app.db.transaction_notes import open_transaction_notes, take_notes
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal


def notify_after_commit(signal: WakeSignal) -> None:
    """Send a signal, once, after the open transaction is committed."""
    call_after_commit(signal.name, signal.notify)


def call_after_commit(name: str, call: Callable[[Redis], object]) -> None:
    """Run ``call`` after the open transaction is committed. Calls with the same name are merged;
    while Valkey is down, they are dropped."""
    open_transaction_notes()[_Call(name)] = call


@dataclass(frozen=True)
class _Call:
    """The key of a note with a call."""

    name: str


@event.listens_for(db.session, "after_commit")
def _make_calls(session: Session) -> None:
    if session.in_nested_transaction():  # a savepoint is released
        return
    calls = {key.name: call for key, call in take_notes().items() if isinstance(key, _Call)}
    for _, call in sorted(calls.items()):
        valkey().attempt(call)
