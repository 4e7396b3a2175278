"""Sealing entries: numbering them, and signing a checkpoint over them.

Writing an entry never waits for this: only committed rows are numbered, and no lock is taken that
an INSERT needs. One process at a time seals the entries of an account.
"""

from __future__ import annotations

import logging
from functools import cache
from random import shuffle
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import bindparam, delete, func, select, text, update

from app.audit.log.bodies import BODY, read_body
from app.audit.log.checkpoints import checkpoints_in_transaction, fetch_checkpoints
from app.audit.log.publishing import entries_at_once, publish_batch
from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.auth.tenant import columns_of, select_of_all_accounts
from app.db.extensions import db
from app.db.queries import CompiledQuery, reading_connection
from app.db.search_index import fenced_rows, is_among_ids
from app.db.transactions import insert_row
from app.maintenance.history_bytes import note_history
from app.models import Account, AuditCheckpoint, AuditEntry
from app.policy.audit import INSTANCE, SEALED_AFTER, SEALED_ENTRIES
from app.values import clock
from app.values.command_name import canopy_command
from app.values.ids import first_id

log = logging.getLogger(__name__)

_IS_WAITING: Final = AuditEntry.number.is_(None)
_ACCOUNTS: Final = select_of_all_accounts(AuditEntry.account_id).where(_IS_WAITING).distinct()
_NEXT = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.id)
    .add_columns(BODY)
    .where(_IS_WAITING, AuditEntry.id > bindparam("after"))
    .order_by(AuditEntry.id)
    .limit(bindparam("size"))
)
_LOCK: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 8))")


class AlreadySealed(Exception):
    """Another process has just sealed some of these entries."""


class AccountSealer:
    """Seals the entries of one account, batch by batch, oldest first."""

    def __init__(self, account_id: str) -> None:
        self.account_id = account_id
        self.is_done = False
        self._after = ""  # the id of an entry

    def read(self) -> list[Any]:
        """Return the ``id`` and ``body`` of the entries of the next batch; empty if none is due.

        Unreadable entries are left out, and counted in the log.
        """
        size = min(SEALED_ENTRIES, entries_at_once(self.account_id))
        rows = _NEXT.all(account_id=self.account_id, after=self._after, size=size)
        self.is_done = len(rows) < size
        if not rows:
            return []
        self._after = rows[-1].id
        batch = [row for row in rows if read_body(row.body) is not None]
        if len(batch) < len(rows):
            log.error(
                "%d unreadable entries of the audit log of %s are not sealed; see "
                f"{canopy_command()} audit verify --account %s",
                *(len(rows) - len(batch), self.account_id, self.account_id),
            )
        is_due = not self.is_done or (
            batch and batch[0].id < first_id("audit_entry", clock.now() - SEALED_AFTER)
        )
        return batch if is_due else []

    def write(self, batch: list[Any], key: tuple[str, Ed25519PrivateKey]) -> int:
        """Seal a batch in the current transaction. Returns its number of entries.

        If the account has been deleted, the entries of a request that was under way are deleted.

        Raises:
            AlreadySealed: roll back; the next run seals the rest.
        """
        if not take_lock(self.account_id):
            raise AlreadySealed
        if not self._keep_account():
            self._delete(batch)
            return len(batch)
        before = _last_checkpoint(self.account_id)
        first = before.last + 1 if before else 1
        self._number(batch, first)
        unsigned = Checkpoint(
            self.account_id,
            number=before.number + 1 if before else 1,
            first=first,
            last=first + len(batch) - 1,
            sealed_at=clock.format_time(clock.now()),
            previous_hash=before.hash if before else proof.NO_HASH,
            hash="",
            key_id=key[0],
            signature="",
            entry_hashes="".join(proof.entry_hash(row.body) for row in batch),
        )
        signed = proof.sign_checkpoint(key[1], unsigned)
        row = signed._asdict() | {"sealed_at": clock.parse_time(unsigned.sealed_at)}
        insert_row(AuditCheckpoint, row)
        note_history(self.account_id, len(batch), sum(len(entry.body) for entry in batch))
        publish_batch(signed, [entry.body for entry in batch])
        return len(batch)

    def _keep_account(self) -> bool:
        """Lock the account against deletion. False: it is deleted already."""
        if self.account_id == INSTANCE:
            return True
        shared = {"read": True, "key_share": True}
        return db.session.get(Account, self.account_id, with_for_update=shared) is not None

    def _delete(self, batch: list[Any]) -> None:
        own = AuditEntry.account_id == self.account_id
        deleting = delete(AuditEntry).where(own, AuditEntry.id.in_([row.id for row in batch]))
        db.session.execute(deleting, execution_options={"synchronize_session": False})

    def _number(self, batch: list[Any], first: int) -> None:
        ids = [row.id for row in batch]
        values = {"of_account": self.account_id, "ids": ids, "before": first - 1}
        if len(db.session.execute(_numbering_update(), values).all()) != len(batch):
            raise AlreadySealed


def accounts_with_unsealed_entries() -> list[str]:
    """The accounts, and the instance, with entries that are not sealed.

    They are shuffled, as a run may not come to the last.
    """
    with reading_connection() as connection:
        account_ids = list(connection.scalars(_ACCOUNTS))
    shuffle(account_ids)
    return account_ids


def take_lock(name: str) -> bool:
    """Take a lock until the end of the transaction. False if another process has it.

    On SQLite, the transaction is the lock.
    """
    if db.engine.dialect.name == "sqlite":
        return True
    return bool(db.session.execute(_LOCK, {"name": name}).scalar_one())


def _last_checkpoint(account_id: str) -> Checkpoint | None:
    newest_first = checkpoints_in_transaction(account_id).order_by(AuditCheckpoint.number.desc())
    checkpoints = fetch_checkpoints(newest_first.limit(1))
    return checkpoints[0] if checkpoints else None


@cache
def _numbering_update() -> Any:
    """An UPDATE that numbers entries in order of id, and returns the ids of those that waited."""
    table = AuditEntry.__table__.c
    named = fenced_rows([table.id, table.account_id, table.number], is_among_ids(table.id))
    place = func.row_number().over(order_by=named.c.id) + bindparam("before")
    numbered = (
        select(named.c.id, place.label("number"))
        .where(named.c.account_id == bindparam("of_account"), named.c.number.is_(None))
        .subquery()
    )
    numbering = update(AuditEntry).where(AuditEntry.id == numbered.c.id)
    numbering = numbering.values(number=numbered.c.number).returning(AuditEntry.id)
    return numbering.execution_options(synchronize_session=False)
