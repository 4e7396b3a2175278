"""Leases of imports: which worker works on which.

A worker leases an import for some seconds, and renews the lease with each transaction. When the
worker dies, another one goes on. Each transaction of a step begins with ``lock_leased``: so no two
workers write one import, and none goes on with a canceled one.

Accounts take turns: the next import is of the account whose last lease is the oldest. Only one
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
    """An import that this worker has leased. ``is_brief``: for a brief turn only."""

    account_id: str
    import_id: str
    lease: str
    status: str
    is_brief: bool = False


def lease_next(*, is_brief: bool = False, beside: Collection[str] = ()) -> LeasedImport | None:
    """Lease the longest waiting import of the account whose turn it is, or return None.

    Imports whose workers died too often fail instead.

    Args:
        is_brief: skip files for which a brief turn was too short.
        beside: skip these accounts, which this process works for.
    """
    working = select(_OTHER.account_id).where(
        _OTHER.status.in_(WORKING),
        _OTHER.lease.is_not(None),
        _OTHER.leased_until >= clock.now(),
        _OTHER.source != "cli",  # commands do not count
    )
    waiting = _waiting_imports().where(
        Import.account_id.not_in(working), Import.account_id.not_in(list(beside))
    )
    if is_brief:
        waiting = waiting.where(or_(Import.status != "reading", Import.is_long.is_(False)))
    in_turn = next_in_turn(waiting, Import.account_id, Import.updated_at)
    import_: Import | None = db.session.scalars(in_turn).one_or_none()
    if import_ is None:
        return None
    if import_.tries >= MOST_TRIES:
        message = "The import ended unexpectedly several times."
        if import_.status == "reading":
            end_costly(import_, message)
        else:
            end_step(import_, "failed", message)
        return lease_next(is_brief=is_brief, beside=beside)
    if import_.status == "reading" and import_.upload_id is None:  # a command was killed
        end_step(import_, "failed", "The import was interrupted.")
        return lease_next(is_brief=is_brief, beside=beside)
    return lease_import(import_, is_brief=is_brief)


def lease_import(import_: Import, *, is_brief: bool = False) -> LeasedImport:
    """Lease an import that this transaction has locked or created."""
    import_.lease = token_hex(16)
    import_.leased_at = clock.now()
    import_.leased_until = import_.leased_at + timedelta(seconds=LEASE_SECONDS)
    import_.tries += 1
    return LeasedImport(import_.account_id, import_.id, import_.lease, import_.status, is_brief)


def do_others_wait(account_id: str) -> bool:
    """True if an import of another account waits for its turn."""
    return has_rows(_waiting_imports().where(Import.account_id != account_id))


def has_waiting_imports() -> bool:
    """True if an import waits for its turn."""
    return has_rows(_waiting_imports())


def pause_import(leased: LeasedImport) -> None:
    """Give up a lease, and leave the import until it would have ended. Raises LeaseLost."""
    lock_leased(leased).lease = None


def put_back(import_: Import) -> None:
    """End a turn in the middle of a step; another turn continues it."""
    import_.lease = import_.leased_until = None
    import_.tries = 0


def lock_leased(leased: LeasedImport) -> Import:
    """Lock a leased import until the end of the transaction, and renew its lease.

    Raises LeaseLost.
    """
    query = select(Import).where(Import.id == leased.import_id).with_for_update()
    import_ = db.session.scalars(query).one_or_none()
    if import_ is None or (import_.lease, import_.status) != (leased.lease, leased.status):
        raise LeaseLost
    import_.leased_until = clock.now() + timedelta(seconds=LEASE_SECONDS)
    return import_


def end_costly(import_: Import, message: str) -> None:
    """Fail an import whose layer is too costly to read; it is not read again."""
    import_.costly_layers = [*import_.costly_layers, import_.layer]
    end_step(import_, "failed", message)


def end_step(import_: Import, status: str, message: str | None = None) -> None:
    """End a step: set the status of the import, give up its lease, and measure the step."""
    additions = Additions()
    seconds = (clock.now() - import_.updated_at).total_seconds()
    name = "canopy_import_step_duration_seconds"
    additions.observe(name, import_.status, status, seconds=seconds)
    call_after_commit(f"{name} {import_.id}", additions.write)
    import_.status, import_.message = status, message
    put_back(import_)
    import_.updated_at = clock.now()


def _waiting_imports() -> Select[Any]:
    """Select the imports of all accounts that wait for a worker."""
    free = or_(Import.leased_until.is_(None), Import.leased_until < clock.now())
    return select(Import).where(Import.status.in_(WORKING), free)
