"""Leases of imports: which worker works on which.

A worker leases an import for some seconds and renews that with each transaction. When it dies,
another one goes on. Each transaction of a step begins with ``locked``: so no two workers write for
one import, and none goes on with one that was canceled.
"""

from __future__ import annotations

from datetime import timedelta
from secrets import token_hex
from typing import Final, NamedTuple

from sqlalchemy import or_, select

from app.db.extensions import db
from app.jobs.queue import IMPORTS
from app.jobs.wake_signals import WakeSignal
from app.models import Import
from app.policy.imports import LEASE_SECONDS, MOST_TRIES, RUN_SECONDS, WORKING
from app.values import clock

NEW_WORK: Final = WakeSignal("imports", IMPORTS, job_timeout=int(RUN_SECONDS) + 60)


class LeaseLost(Exception):
    """Another worker has the import, or it was canceled or deleted."""


class Leased(NamedTuple):
    """An import that this worker works on."""

    account_id: str
    import_id: str
    lease: str
    status: str


def lease_next() -> Leased | None:
    """Lease the import of any account that has waited longest, or return None.

    One whose worker has died too often fails.
    """
    moment = clock.now()
    free = or_(Import.leased_until.is_(None), Import.leased_until < moment)
    waiting = select(Import).where(Import.status.in_(WORKING), free)
    oldest = waiting.order_by(Import.updated_at).limit(1).with_for_update(skip_locked=True)
    found = db.session.scalars(oldest).one_or_none()
    if found is None:
        return None
    if found.tries >= MOST_TRIES:
        end_step(found, "failed", "The import ended unexpectedly several times.")
        return lease_next()
    if found.status == "reading" and found.upload_id is None:  # a command read it, and was killed
        end_step(found, "failed", "The import was interrupted.")
        return lease_next()
    return lease(found)


def lease(found: Import) -> Leased:
    """Lease an import that is locked by this transaction, or new."""
    found.lease = token_hex(16)
    found.leased_until = clock.now() + timedelta(seconds=LEASE_SECONDS)
    found.tries += 1
    return Leased(found.account_id, found.id, found.lease, found.status)


def locked(leased: Leased) -> Import:
    """The leased import, locked until the end of the transaction, with its lease renewed.

    Raises LeaseLost.
    """
    own = select(Import).where(Import.id == leased.import_id).with_for_update()
    found = db.session.scalars(own).one_or_none()
    if found is None or found.lease != leased.lease or found.status != leased.status:
        raise LeaseLost
    found.leased_until = clock.now() + timedelta(seconds=LEASE_SECONDS)
    return found


def end_step(found: Import, status: str, message: str | None = None) -> None:
    """Set the status of an import after its step."""
    found.status, found.message = status, message
    found.lease = found.leased_until = None
    found.tries = 0
    found.updated_at = clock.now()
