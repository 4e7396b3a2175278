"""Deleting whole batches of entries after ``AUDIT_DAYS``. Their checkpoints stay, and an entry
records the deletion.

Somebody with SQL may change rows to have entries deleted. So only what this instance has signed
counts: when a batch was sealed, and which entries it has.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from itertools import takewhile
from random import shuffle
from typing import Final

from flask import current_app
from sqlalchemy import bindparam, delete, select, update

from app.audit.entries import record
from app.audit.log.checkpoints import checkpoints_in_transaction, fetch
from app.audit.log.keys import own_key
from app.audit.log.sealing import is_any_waiting, take_lock
from app.audit.log.target import log_of
from app.audit.origin import SYSTEM
from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.findings import printable
from app.db.extensions import db
from app.db.queries import connect, reading_as_stored
from app.models import AuditCheckpoint, AuditEntry
from app.values import clock
from config import Settings

log = logging.getLogger(__name__)

_HAS_ENTRIES: Final = AuditCheckpoint.entry_hashes.is_not(None)
_EXPIRED: Final = (
    select(AuditCheckpoint.account_id)
    .where(AuditCheckpoint.sealed_at < bindparam("before"), _HAS_ENTRIES)
    .distinct()
)
_AT_ONCE: Final = 10  # batches
_SILENT: Final = {"synchronize_session": False}


def accounts_with_expired() -> list[str]:
    """The accounts, and the instance, with batches that seem to have expired, in any order: a run
    may not come to the last."""
    with connect() as connection, reading_as_stored(connection):
        rows = connection.scalars(_EXPIRED, {"before": _expired_before()})
        found = [each for each in rows if isinstance(each, str)]
    shuffle(found)
    return found


def delete_oldest(account_id: str) -> int | None:
    """Delete the entries of an account's oldest batches in the current transaction, as many as have
    expired. Returns how many; None if the oldest has not: later ones are kept too, as what is
    deleted has no gaps."""
    if not take_lock(f"prune {account_id}"):
        return None  # another process deletes it
    batches = list(takewhile(_has_expired, _oldest(account_id)))
    if not batches or is_any_waiting(account_id, batches[-1].sealed_at):
        return None
    return _delete(account_id, batches)


def _has_expired(batch: Checkpoint) -> bool:
    if _is_signed(batch):
        return clock.parse_time(batch.sealed_at) < _expired_before()
    log.error(
        "the audit log of %s keeps its old entries: checkpoint %s is not what this instance "
        "signed; see bin/canopy audit verify --account %s",
        *map(printable, (batch.account_id, batch.number, batch.account_id)),
    )
    return False


def _expired_before() -> datetime:
    return clock.now() - timedelta(days=_days())


def _days() -> int:
    settings: Settings = current_app.config["SETTINGS"]
    return settings.audit_days


def _oldest(account_id: str) -> list[Checkpoint]:
    """The oldest checkpoints whose entries are not deleted, with a lock."""
    own = checkpoints_in_transaction(account_id).where(_HAS_ENTRIES)
    return fetch(own.order_by(AuditCheckpoint.number).limit(_AT_ONCE).with_for_update())


def _is_signed(batch: Checkpoint) -> bool:
    if not batch.is_valid():
        return False
    key = own_key(batch.key_id)
    return key is not None and proof.is_signed(key, batch)


def _delete(account_id: str, batches: list[Checkpoint]) -> int:
    first, last = batches[0].first, batches[-1].last
    numbers = [batch.number for batch in batches]
    own = AuditCheckpoint.account_id == account_id, AuditCheckpoint.number.in_(numbers)
    emptying = update(AuditCheckpoint).where(*own).values(entry_hashes=None)
    db.session.execute(emptying, execution_options=_SILENT)
    sealed = AuditEntry.account_id == account_id, AuditEntry.number.between(first, last)
    gone = delete(AuditEntry).where(*sealed).returning(AuditEntry.id)
    deleted = db.session.execute(gone, execution_options=_SILENT).all()
    record(
        "audit_log.pruned",
        log_of(account_id),
        account_id=account_id,
        actor=SYSTEM,
        changes={
            "first_number": {"from": first, "to": last + 1},
            "audit_days": {"from": None, "to": _days()},  # verification compares it with the time
        },
    )
    return len(deleted)
