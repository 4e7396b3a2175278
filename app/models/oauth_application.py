"""Registered OAuth applications."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp


class OAuthApplication(Base):
    """A client of the OAuth server, registered by an account. Its id is its ``client_id``."""

    __tablename__ = "oauth_applications"
    __table_args__ = (Index(None, "account_id", "id"),)

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key, ForeignKey("accounts.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    redirect_uris: Mapped[list[str]] = mapped_column(JSON)
    scopes: Mapped[list[str]] = mapped_column(JSON)  # that it may request
    secret_hash: Mapped[str | None] = mapped_column(Hash)  # None: a public client
    # After a rotation, the one before is accepted until then.
    former_secret_hash: Mapped[str | None] = mapped_column(Hash)
    former_secret_until: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
