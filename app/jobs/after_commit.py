"""What is done in Valkey once a change is committed, such as starting a job.

What a job has to do is in the database, and a periodic job looks for it; this only makes it happen
at once. So while Valkey is down nothing is lost, and nobody is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from redis import Redis
from sqlalchemy import event

from app.db.extensions import db
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal

_CALLS: Final = "canopy_calls_after_commit"


def notify_after_commit(signal: WakeSignal) -> None:
    """Send a signal as soon as the open transaction is committed, once for all of it."""
    call_after_commit(signal.name, signal.notify)


def call_after_commit(name: str, call: Callable[[Redis], object]) -> None:
    """Do something in Valkey as soon as the open transaction is committed, once for each name.
    While Valkey is down it is not done."""
    db.session.info.setdefault(_CALLS, {})[name] = call


@event.listens_for(db.session, "after_commit")
def _make_calls(session: Any) -> None:
    for _, call in sorted(session.info.pop(_CALLS, {}).items()):
        valkey().attempt(call)


@event.listens_for(db.session, "after_soft_rollback")
def _forget_calls(session: Any, _: Any) -> None:
    session.info.pop(_CALLS, None)
