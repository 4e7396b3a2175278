"""Deleting whole batches of entries ``AUDIT_DAYS`` after they were sealed.

Their checkpoints stay, and the deletion has an entry.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import takewhile
from random import shuffle
from typing import Final

from sqlalchemy import bindparam, delete, update

from app.audit.entries import write_entry
from app.audit.log.checkpoints import checkpoints_in_transaction, fetch_checkpoints
from app.audit.log.sealing import take_lock
from app.audit.origin import SYSTEM
from app.audit.proof.checkpoint import Checkpoint
from app.audit.targets import audit_log_target
from app.auth.tenant import select_of_all_accounts
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.queries import reading_connection
from app.maintenance.history_bytes import note_history
from app.models import AuditCheckpoint, AuditEntry
from app.settings.current import current_settings
from app.values import clock

_HAS_ENTRIES: Final = AuditCheckpoint.entry_hashes.is_not(None)
_EXPIRED: Final = (
    select_of_all_accounts(AuditCheckpoint.account_id)
    .where(AuditCheckpoint.sealed_at < bindparam("before"), _HAS_ENTRIES)
    .distinct()
)
AT_ONCE: Final = 10  # batches
_SILENT: Final = {"synchronize_session": False}


def accounts_with_expired() -> list[str]:
    """The accounts, and the instance, with expired batches, shuffled, as a run may not reach the
    last."""
    with reading_connection() as connection:
        account_ids = list(connection.scalars(_EXPIRED, {"before": _expired_before()}))
    shuffle(account_ids)
    return account_ids


def delete_oldest(account_id: str) -> int | None:
    """Delete the entries of an account's oldest batches that have expired, in the current
    transaction.

    Returns:
        Their number; None if the oldest batch has not expired. Later batches stay then, too, so
        that deletion leaves no gaps.
    """
    if not take_lock(f"prune {account_id}"):
        return None  # another process deletes it
    limit = clock.format_time(_expired_before())
    batches = list(
        takewhile(lambda batch: batch.sealed_at < limit, _lock_oldest_checkpoints(account_id))
    )
    return _delete_oldest_entries(account_id, batches) if batches else None


def _expired_before() -> datetime:
    return clock.now() - timedelta(days=current_settings().audit_days)


def _lock_oldest_checkpoints(account_id: str) -> list[Checkpoint]:
    """The oldest checkpoints whose entries are not deleted, with a lock."""
    own = checkpoints_in_transaction(account_id).where(_HAS_ENTRIES)
    return fetch_checkpoints(own.order_by(AuditCheckpoint.number).limit(AT_ONCE).with_for_update())


def _delete_oldest_entries(account_id: str, batches: list[Checkpoint]) -> int:
    first, last = batches[0].first, batches[-1].last
    numbers = [batch.number for batch in batches]
    own = AuditCheckpoint.account_id == account_id, AuditCheckpoint.number.in_(numbers)
    emptying = update(AuditCheckpoint).where(*own).values(entry_hashes=None)
    db.session.execute(emptying, execution_options=_SILENT)
    sealed = AuditEntry.account_id == account_id, AuditEntry.number.between(first, last)
    deleting = delete(AuditEntry).where(*sealed).returning(byte_length(AuditEntry.body))
    sizes = db.session.scalars(deleting, execution_options=_SILENT).all()
    note_history(account_id, -len(sizes), -sum(sizes))
    changes = {"first_number": {"from": first, "to": last + 1}}
    target = audit_log_target(account_id)
    write_entry("audit_log.pruned", target, account_id=account_id, actor=SYSTEM, changes=changes)
    return len(sizes)
