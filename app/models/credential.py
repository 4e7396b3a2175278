"""API keys and service tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, foreign_key, partial_index

# Credentials that expire, without a mail about it so far.
_EXPIRING = "expires_at IS NOT NULL AND expiry_mailed_at IS NULL AND revoked_at IS NULL"


class Credential(Base):
    """One key or token. Only the SHA-256 of its secret is stored.

    With ``project_ids`` it sees only these projects.
    """

    __tablename__ = "credentials"
    __table_args__ = (
        CheckConstraint("kind IN ('api_key', 'service_token')", name="kind"),
        Index(None, "account_id", "id"),
        partial_index("ix_credentials_expiring", "expires_at", where=_EXPIRING),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    kind: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(200))
    permissions: Mapped[list[str]] = mapped_column(JSON)
    project_ids: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    ip_allowlist: Mapped[list[str] | None] = mapped_column(JSON)  # None: from anywhere
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    token_end: Mapped[str] = mapped_column(String(4))  # shown in lists, to tell keys apart
    created_by: Mapped[str] = mapped_column(Key, ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    expiry_mailed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_address: Mapped[str | None] = mapped_column(String(45))
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
