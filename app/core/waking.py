"""Waking a job once a change is committed.

What has to be done is in the database, and a periodic job looks for it; waking only makes it
happen at once. So when the store is down, nothing is lost, and nobody is told.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from redis import Redis
from rq.exceptions import DuplicateJobError
from sqlalchemy import event

from app.core.bells import Bell
from app.core.queue import job_queue
from app.core.store import store
from app.extensions import db

_CALLS: Final = "canopy_calls_after_commit"
_RESULT_TTL: Final = 0  # seconds
_FAILURE_TTL: Final = 5  # a failed run keeps its id, and with it the next one away, for this long
_TTL: Final = 600  # seconds in the queue; the periodic job does what a lost one would have


def wake_after_commit(job: str) -> None:
    """Have a job run as soon as the transaction at hand is committed.

    Args:
        job: its dotted path, such as ``app.mail.jobs.send_mails``. It takes no arguments, and
            waits in the queue once at most.
    """
    _call_after_commit(job, partial(_enqueue, job))


def ring_after_commit(bell: Bell) -> None:
    """Ring a bell as soon as the transaction at hand is committed, once for all of it."""
    _call_after_commit(bell.name, bell.ring)


def _call_after_commit(name: str, call: Callable[[Redis], bool]) -> None:
    db.session.info.setdefault(_CALLS, {})[name] = call


@event.listens_for(db.session, "after_commit")
def _wake(session: Any) -> None:
    for _, call in sorted(session.info.pop(_CALLS, {}).items()):
        store().attempt(call)


@event.listens_for(db.session, "after_soft_rollback")
def _forget(session: Any, _: Any) -> None:
    session.info.pop(_CALLS, None)


def _enqueue(job: str, client: Redis) -> bool:
    with suppress(DuplicateJobError):  # it waits already
        job_queue(client).enqueue(
            job,
            job_id=f"woken-{job.replace('.', '-')}",
            unique=True,
            result_ttl=_RESULT_TTL,
            failure_ttl=_FAILURE_TTL,
            ttl=_TTL,
        )
    return True
