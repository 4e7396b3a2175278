"""Requests a day (UTC), copied by a job from the counters in Valkey."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, foreign_key


class RequestCount(Base):
    """Requests of an account on one day."""

    __tablename__ = "request_counts"

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)  # 2026-01-31
    requests: Mapped[int] = mapped_column(BigInteger)


class CredentialRequest(Base):
    """Requests of one credential on one day. They stay when the credential is deleted.

    ``credential_id`` is ``app.auth.principal.Principal.counted_as``.
    """

    __tablename__ = "credential_requests"
    __table_args__ = (Index(None, "day"),)

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    credential_id: Mapped[str] = mapped_column(Key, primary_key=True)
    requests: Mapped[int] = mapped_column(BigInteger)
