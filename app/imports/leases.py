"""Leases of imports: which worker works on which.

A worker leases an import for some seconds and renews that with each transaction. When it dies,
another one goes on. Each transaction of a step begins with ``lock_leased``, so no two workers write
one import, and none goes on with one that was canceled.

Accounts take turns: the next import is of the account whose last lease is the oldest, and one
import of an account is worked on at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from secrets import token_hex
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import aliased

from app.db.extensions import db
from app.db.queries import has_rows
from app.db.turns import next_in_turn
from app.jobs.after_commit import call_after_commit
from app.jobs.queue import IMPORTS
from app.jobs.shared_metrics import Additions
from app.jobs.wake_signals import WakeSignal
from app.models import Import
from app.policy.imports import LEASE_SECONDS, MOST_TRIES, RUN_SECONDS, WORKING
from app.values import clock

NEW_WORK: Final = WakeSignal("imports", IMPORTS, job_timeout=int(RUN_SECONDS) + 240)


_OTHER: Final = aliased(Import)


class LeaseLost(Exception):
    """Another worker has the import, or it was canceled or deleted."""


class LeasedImport(NamedTuple):
    """An import that this worker works on. ``is_brief``: only for a brief turn."""

    account_id: str
    import_id: str
    lease: str
    status: str
    is_brief: bool = False


def lease_next(*, is_brief: bool = False, beside: Collection[str] = ()) -> LeasedImport | None:
    """Lease the import that has waited longest, of the account whose turn it is, or return None.

    One whose worker has died too often fails.

    Args:
        is_brief: for a brief turn: leave out files for which one was too short.
        beside: accounts that this process works for, even if a lease of theirs has ended.
    """
    working = select(_OTHER.account_id).where(
        _OTHER.status.in_(WORKING),
        _OTHER.lease.is_not(None),
        _OTHER.leased_until >= clock.now(),
        _OTHER.source != "cli",  # no worker's
    )
    waiting = _waiting().where(
        Import.account_id.not_in(working), Import.account_id.not_in(list(beside))
    )
    if is_brief:
        waiting = waiting.where(or_(Import.status != "reading", Import.is_long.is_(False)))
    in_turn = next_in_turn(waiting, Import.account_id, Import.updated_at)
    found: Import | None = db.session.scalars(in_turn).one_or_none()
    if found is None:
        return None
    if found.tries >= MOST_TRIES:
        message = "The import ended unexpectedly several times."
        if found.status == "reading":
            end_costly(found, message)
        else:
            end_step(found, "failed", message)
        return lease_next(is_brief=is_brief, beside=beside)
    if found.status == "reading" and found.upload_id is None:  # a command read it, and was killed
        end_step(found, "failed", "The import was interrupted.")
        return lease_next(is_brief=is_brief, beside=beside)
    return lease_import(found, is_brief=is_brief)


def lease_import(found: Import, *, is_brief: bool = False) -> LeasedImport:
    """Lease an import that is locked by this transaction, or new."""
    found.lease = token_hex(16)
    found.leased_at = clock.now()
    found.leased_until = found.leased_at + timedelta(seconds=LEASE_SECONDS)
    found.tries += 1
    return LeasedImport(found.account_id, found.id, found.lease, found.status, is_brief)


def do_others_wait(account_id: str) -> bool:
    """True if an import of another account waits for its turn."""
    return has_rows(_waiting().where(Import.account_id != account_id))


def has_waiting() -> bool:
    """True if an import waits for its turn."""
    return has_rows(_waiting())


def pause(leased: LeasedImport) -> None:
    """Leave an import until its lease would end; others of the account go on. Raises LeaseLost."""
    lock_leased(leased).lease = None


def put_back(found: Import) -> None:
    """End a turn in the middle of a step, which another turn continues or repeats."""
    found.lease = found.leased_until = None
    found.tries = 0


def lock_leased(leased: LeasedImport) -> Import:
    """The leased import, locked until the end of the transaction, with its lease renewed.

    Raises LeaseLost.
    """
    own = select(Import).where(Import.id == leased.import_id).with_for_update()
    found = db.session.scalars(own).one_or_none()
    if found is None or found.lease != leased.lease or found.status != leased.status:
        raise LeaseLost
    found.leased_until = clock.now() + timedelta(seconds=LEASE_SECONDS)
    return found


def end_costly(found: Import, message: str) -> None:
    """Let an import fail whose layer takes too much to be read, now and again."""
    found.costly_layers = [*found.costly_layers, found.layer]
    end_step(found, "failed", message)


def end_step(found: Import, status: str, message: str | None = None) -> None:
    """Set the status of an import after its step."""
    additions = Additions()
    seconds = (clock.now() - found.updated_at).total_seconds()
    name = "canopy_import_step_duration_seconds"
    additions.observe(name, found.status, status, seconds=seconds)
    call_after_commit(f"{name} {found.id}", additions.write)
    found.status, found.message = status, message
    found.lease = found.leased_until = None
    found.tries = 0
    found.updated_at = clock.now()


def _waiting() -> Select[Any]:
    """Select the imports of all accounts that no worker works on, although one should."""
    free = or_(Import.leased_until.is_(None), Import.leased_until < clock.now())
    return select(Import).where(Import.status.in_(WORKING), free)
