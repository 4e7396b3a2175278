"""Stored responses to requests with an Idempotency-Key."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, Index, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Compressed, Timestamp, foreign_key


class IdempotentResponse(Base):
    """The response to the first request with this key, which a repeat gets as well."""

    __tablename__ = "idempotent_answers"
    __table_args__ = (Index(None, "created_at"),)

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    # SHA-256 of the method, the path and the values of the body.
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int] = mapped_column(SmallInteger)
    headers: Mapped[dict[str, str]] = mapped_column(JSON)
    body: Mapped[bytes] = mapped_column(Compressed)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
