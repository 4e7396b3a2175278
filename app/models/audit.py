"""The audit log: entries, checkpoints and signing keys."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp, partial_index

_WAITING = "number IS NULL"
_SEALED = "number IS NOT NULL"
_HAS_ENTRIES = "entry_hashes IS NOT NULL"


class AuditEntry(Base):
    """An action. ``body`` is the whole entry, byte for byte as exported and sealed.

    ``account_id`` may be ``INSTANCE``, and outlives its account: it is no foreign key. ``number``
    counts the account's entries from 1 in the order in which they were sealed."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index(None, "account_id", "id"),
        Index(None, "account_id", "action", "id"),
        # With the other columns that lists filter by, so that counting reads no rows.
        Index(None, "account_id", "actor_id", "id", "action"),
        Index(None, "account_id", "target_id", "id", "action", "actor_id"),
        partial_index(
            "ix_audit_entries_account_id_number", "account_id", "number", unique=True, where=_SEALED
        ),
        partial_index("ix_audit_entries_waiting", "account_id", "id", where=_WAITING),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    action: Mapped[str] = mapped_column(String(60))
    actor_id: Mapped[str | None] = mapped_column(Key)
    target_id: Mapped[str | None] = mapped_column(Key)
    body: Mapped[str] = mapped_column(Text)
    number: Mapped[int | None] = mapped_column(BigInteger)


class AuditCheckpoint(Base):
    """A sealed batch of an account's entries, ``first`` to ``last`` by number.

    ``entry_hashes`` has the SHA-256 of each entry's body in hexadecimal, one after the other; NULL
    once the entries are deleted. ``hash`` covers them and ``previous_hash``, and ``signature`` all
    of the checkpoint but itself.
    """

    __tablename__ = "audit_checkpoints"
    __table_args__ = (
        partial_index(
            "ix_audit_checkpoints_with_entries", "account_id", "number", where=_HAS_ENTRIES
        ),
    )

    account_id: Mapped[str] = mapped_column(Key, primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    first: Mapped[int] = mapped_column(BigInteger)
    last: Mapped[int] = mapped_column(BigInteger)
    sealed_at: Mapped[datetime] = mapped_column(Timestamp)
    previous_hash: Mapped[str] = mapped_column(Hash)
    hash: Mapped[str] = mapped_column(Hash)
    key_id: Mapped[str] = mapped_column(Key)
    signature: Mapped[str] = mapped_column(String(128))
    entry_hashes: Mapped[str | None] = mapped_column(Text)


class SigningKey(Base):
    """A key pair with which this instance signs. The newest one signs; all verify."""

    __tablename__ = "signing_keys"

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    public_key: Mapped[str] = mapped_column(Text)  # Ed25519, raw, base64
    sealed_private_key: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
