"""Deleting whole batches of entries after ``AUDIT_DAYS``. Their checkpoints stay, and an entry
records the deletion."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final

from flask import current_app
from sqlalchemy import bindparam, delete, select, update

from app.audit.entries import record
from app.audit.origin import SYSTEM
from app.audit_log.checkpoints import next_checkpoint
from app.audit_log.keys import list_keys
from app.audit_log.target import log_of
from app.audit_proof import checkpoint as proof
from app.db.extensions import db
from app.db.queries import connect
from app.models import AuditCheckpoint, AuditEntry
from app.values import clock
from config import Settings

log = logging.getLogger(__name__)

_READ_AT_ONCE: Final = 100
_HAS_ENTRIES: Final = AuditCheckpoint.entry_hashes.is_not(None)
_EXPIRED: Final = (
    select(
        AuditCheckpoint.account_id,
        AuditCheckpoint.number,
        AuditCheckpoint.first,
        AuditCheckpoint.last,
    )
    .where(AuditCheckpoint.sealed_at < bindparam("before"), _HAS_ENTRIES)
    .order_by(AuditCheckpoint.account_id, AuditCheckpoint.number)
)
_SILENT: Final = {"synchronize_session": False}


def expired_batches(but: Collection[str] = ()) -> Sequence[Any]:
    """The next batches that were sealed more than ``AUDIT_DAYS`` ago, the oldest of each account
    first.

    Args:
        but: accounts that are left out.
    """
    settings: Settings = current_app.config["SETTINGS"]
    before = clock.now() - timedelta(days=settings.audit_days)
    with connect() as connection:
        found = _EXPIRED.where(AuditCheckpoint.account_id.not_in(but)).limit(_READ_AT_ONCE)
        return connection.execute(found, {"before": before}).all()


def is_expiry_signed(batch: Any) -> bool:
    """Whether the time at which a batch was sealed is the one that was signed. Otherwise somebody
    has changed it, maybe to have the entries deleted, and they are kept: it is logged."""
    keys = {key["id"]: key["public_key"] for key in list_keys()}
    checkpoint = next_checkpoint(batch.account_id, batch.number - 1)
    try:
        key = proof.read_public_key(keys[checkpoint.key_id if checkpoint else ""])
        if checkpoint and proof.is_signed(key, checkpoint):
            return True
    except (LookupError, TypeError, ValueError):
        pass
    log.error(
        "the audit log of %s keeps its old entries: checkpoint %s is not what was signed; "
        "see bin/canopy audit verify --account %s",
        *(batch.account_id, batch.number, batch.account_id),
    )
    return False


def delete_batch(batch: Any) -> int:
    """Delete the entries of a batch in the current transaction. Returns how many."""
    own = (
        AuditCheckpoint.account_id == batch.account_id,
        AuditCheckpoint.number == batch.number,
        _HAS_ENTRIES,
    )
    emptying = update(AuditCheckpoint).where(*own).values(entry_hashes=None)
    emptying = emptying.returning(AuditCheckpoint.number)
    if not db.session.execute(emptying, execution_options=_SILENT).all():
        return 0  # another process has deleted it
    sealed = (
        AuditEntry.account_id == batch.account_id,
        AuditEntry.number >= batch.first,
        AuditEntry.number <= batch.last,
    )
    gone = delete(AuditEntry).where(*sealed).returning(AuditEntry.id)
    deleted = db.session.execute(gone, execution_options=_SILENT).all()
    record(
        "audit_log.pruned",
        log_of(batch.account_id),
        account_id=batch.account_id,
        actor=SYSTEM,
        changes={"first_number": {"from": batch.first, "to": batch.last + 1}},
    )
    return len(deleted)
