"""Sealing entries: giving them numbers, and a signed checkpoint.

Nobody who writes an entry waits for this: it numbers only committed rows, and takes no lock that an
insert needs. One process at a time seals the entries of an account.
"""

from __future__ import annotations

import hmac
import logging
from datetime import timedelta
from functools import cache
from random import shuffle
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import bindparam, delete, func, select, text, update

from app.audit.authenticity import is_authentic
from app.audit.log.checkpoints import checkpoints_in_transaction, fetch
from app.audit.log.publishing import entries_at_once, publish
from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.findings import printable
from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery, connect, reading_as_stored
from app.db.search_index import fence, id_values, is_among_ids
from app.db.transactions import insert_row
from app.models import Account, AuditCheckpoint, AuditEntry
from app.policy.audit import INSTANCE, SEALED_AFTER, SEALED_ENTRIES
from app.values import clock
from app.values.ids import first_id, last_id
from app.values.strict_json import JsonInvalid, loads_own

log = logging.getLogger(__name__)

_SHOWN: Final = 3  # ids in a line of the log
_KEPT_AT_LEAST: Final = timedelta(days=1)  # entries: the lowest AUDIT_DAYS
_IS_WAITING: Final = AuditEntry.number.is_(None)
_ACCOUNTS: Final = select(AuditEntry.account_id).where(_IS_WAITING).distinct()
ENTRY: Final = (
    *(AuditEntry.id, AuditEntry.account_id, AuditEntry.action, AuditEntry.actor_id),
    *(AuditEntry.target_id, AuditEntry.body, AuditEntry.mac),
)
_NEXT = CompiledQuery(
    columns_of(AuditEntry, *ENTRY)
    .where(_IS_WAITING, AuditEntry.id > bindparam("after"))
    .order_by(AuditEntry.id)
    .limit(bindparam("size"))
)
_WAITING_TO = CompiledQuery(
    columns_of(AuditEntry, *ENTRY)
    .where(_IS_WAITING, AuditEntry.id > bindparam("after"), AuditEntry.id <= bindparam("to"))
    .order_by(AuditEntry.id)
    .limit(SEALED_ENTRIES)
)
_LAST: Final = (AuditCheckpoint.number.desc(),)
_NEWEST_DELETED: Final = CompiledQuery(
    columns_of(AuditCheckpoint, AuditCheckpoint.sealed_at)
    .where(AuditCheckpoint.entry_hashes.is_(None))
    .order_by(*_LAST)
    .limit(1)
)
_LOCK: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 8))")


class Overtaken(Exception):
    """Another process has just sealed some of these entries."""


class AccountSealer:
    """Seals the entries of one account, batch by batch, the oldest first.

    Args:
        at_once: whether entries are due however few and new they are.
    """

    def __init__(self, account_id: str, *, at_once: bool = False) -> None:
        self.account_id = account_id
        self._at_once = at_once
        self.is_done = False
        self._after = ""  # an entry's id

    def read(self) -> list[Any]:
        """The next batch that is due; empty if there is none. Entries that this instance has not
        written, or has deleted by age already, are left out and logged."""
        size = min(SEALED_ENTRIES, entries_at_once(self.account_id))
        with reading_as_stored():
            rows = _NEXT.all(account_id=self.account_id, after=self._after, size=size)
        self.is_done = len(rows) < size
        if not rows:
            return []
        self._after = rows[-1].id
        batch = self._not_deleted([row for row in rows if is_genuine(row)])
        if len(batch) < len(rows):
            genuine = {row.id for row in batch}
            _log_strange(self.account_id, [row.id for row in rows if row.id not in genuine])
        is_due = self._at_once or not self.is_done or (batch and batch[0].id < _due_before())
        return batch if is_due else []

    def _not_deleted(self, batch: list[Any]) -> list[Any]:
        """Without entries that were deleted by age and that somebody has put in again: they are not
        younger than the newest batch that was deleted. One that has never been sealed is, as it
        does not wait for ``AUDIT_DAYS``."""
        if not batch or batch[0].id > first_id("audit_entry", clock.now() - _KEPT_AT_LEAST):
            return batch
        deleted_to = _deleted_to(self.account_id)
        return [row for row in batch if row.id > deleted_to]

    def write(self, batch: list[Any], key: tuple[str, Ed25519PrivateKey]) -> int:
        """Seal a batch in the current transaction, or delete it if the account is gone: a request
        that was under way wrote it. Returns how many entries it has.

        Raises:
            Overtaken: roll back; the next run seals what is left.
        """
        if not take_lock(self.account_id):
            raise Overtaken
        if not self._keep_account():
            self._delete(batch)
            return len(batch)
        before = _last_checkpoint(self.account_id)
        first = before.last + 1 if before else 1
        self._number(batch, first)
        made = Checkpoint(
            self.account_id,
            number=before.number + 1 if before else 1,
            first=first,
            last=first + len(batch) - 1,
            sealed_at=clock.format_time(clock.now()),
            previous_hash=before.hash if before else proof.NO_HASH,
            hash="",
            key_id=key[0],
            signature="",
            entry_hashes="".join(proof.entry_hash(row.body.encode()) for row in batch),
        )
        signed = proof.sign(key[1], made)
        row = signed._asdict() | {"sealed_at": clock.parse_time(made.sealed_at)}
        insert_row(AuditCheckpoint, row)
        publish(signed, [entry.body for entry in batch])
        return len(batch)

    def _keep_account(self) -> bool:
        """Keep the account from being deleted until the end of the transaction. False: it is."""
        if self.account_id == INSTANCE:
            return True
        shared = {"read": True, "key_share": True}
        return db.session.get(Account, self.account_id, with_for_update=shared) is not None

    def _delete(self, batch: list[Any]) -> None:
        own = AuditEntry.account_id == self.account_id
        gone = delete(AuditEntry).where(own, AuditEntry.id.in_([row.id for row in batch]))
        db.session.execute(gone, execution_options={"synchronize_session": False})

    def _number(self, batch: list[Any], first: int) -> None:
        dialect = db.engine.dialect.name
        values = {
            "of_account": self.account_id,
            "ids": id_values([row.id for row in batch], dialect),
            "before": first - 1,
        }
        if len(db.session.execute(_numbering(dialect), values).all()) != len(batch):
            raise Overtaken


def accounts_with_waiting() -> list[str]:
    """The accounts, and the instance, with entries that are not sealed, in any order: a run may not
    come to the last."""
    with connect() as connection, reading_as_stored(connection):
        found = list(connection.scalars(_ACCOUNTS))
    if strange := [each for each in found if not isinstance(each, str)]:
        log.error(
            "entries of the audit log name no account: %s", ", ".join(map(printable, strange))
        )
    accounts = [each for each in found if isinstance(each, str)]
    shuffle(accounts)
    return accounts


def is_genuine(row: Any, keys: list[hmac.HMAC] | None = None) -> bool:
    """Whether this instance wrote an entry that is not sealed, and nobody has changed it since.

    Args:
        keys: those of ``app.audit.authenticity.keys_of``, where there is no application.
    """
    if not (isinstance(row.body, str) and isinstance(row.mac, str)):
        return False
    return is_authentic(row.body.encode(), row.mac, keys) and not wrong_columns(row)


def wrong_columns(row: Any) -> list[str]:
    """The columns that differ from the body of an entry. All, if it cannot be read."""
    names = ("id", "account_id", "action", "actor_id", "target_id")
    try:
        entry = loads_own(row.body.encode())
        found = (
            *(entry["id"], entry["account_id"], entry["action"]),
            *(entry["actor"]["id"], entry["target"]["id"]),
        )
    except (JsonInvalid, LookupError, TypeError):
        return list(names)
    return [name for name, value in zip(names, found, strict=True) if getattr(row, name) != value]


def take_lock(name: str) -> bool:
    """Take a lock until the end of the transaction; on SQLite, the transaction is one already.
    False if another process has it."""
    if db.engine.dialect.name == "sqlite":
        return True
    return bool(db.session.execute(_LOCK, {"name": name}).scalar_one())


def is_any_waiting(account_id: str, sealed_at: str) -> bool:
    """Whether an entry from before a batch was sealed still waits. Once that batch is deleted by
    age, it would look like one that somebody has inserted again."""
    with reading_as_stored():
        values = {"after": _deleted_to(account_id), "to": ids_to(sealed_at)}
        rows = _WAITING_TO.all(account_id=account_id, **values)
    return any(map(is_genuine, rows))


def _deleted_to(account_id: str) -> str:
    """The highest id that an entry can have which was deleted by age. Empty if none was."""
    with reading_as_stored():
        newest = _NEWEST_DELETED.first(account_id=account_id)
    return "" if newest is None else ids_to(newest[0])


def ids_to(sealed_at: str) -> str:
    """The highest id of an entry that was sealed at this time. Empty if it is no time."""
    try:
        return last_id("audit_entry", clock.parse_time(sealed_at))
    except (TypeError, ValueError):  # somebody has changed it
        return ""


def _due_before() -> str:
    return first_id("audit_entry", clock.now() - SEALED_AFTER)


def _last_checkpoint(account_id: str) -> Checkpoint | None:
    found = fetch(checkpoints_in_transaction(account_id).order_by(*_LAST).limit(1))
    return found[0] if found else None


@cache
def _numbering(dialect: str) -> Any:
    """An UPDATE that numbers entries in order of id, and returns the ids of those that waited."""
    table = AuditEntry.__table__.c
    named = fence([table.id, table.account_id, table.number], is_among_ids(table.id, dialect))
    place = func.row_number().over(order_by=named.c.id) + bindparam("before")
    chosen = (
        select(named.c.id, place.label("number"))
        .where(named.c.account_id == bindparam("of_account"), named.c.number.is_(None))
        .subquery()
    )
    numbering = update(AuditEntry).where(AuditEntry.id == chosen.c.id)
    numbering = numbering.values(number=chosen.c.number).returning(AuditEntry.id)
    return numbering.execution_options(synchronize_session=False)


def _log_strange(account_id: str, ids: list[str]) -> None:
    shown = ", ".join(map(printable, ids[:_SHOWN])) + ("…" if len(ids) > _SHOWN else "")
    log.error(
        "%d entries of the audit log of %s are not sealed, as this instance did not write them, or "
        "deleted them by age before: %s; see bin/canopy audit verify --account %s",
        *(len(ids), printable(account_id), shown, printable(account_id)),
    )
