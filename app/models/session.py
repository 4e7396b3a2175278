"""Browser sessions of people."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp, foreign_key


class Session(Base):
    """A person signed in in a browser. The cookie holds the token, the row its hash."""

    __tablename__ = "sessions"
    __table_args__ = (Index(None, "user_id"), Index(None, "current_account_id"))

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    user_id: Mapped[str] = foreign_key("users.id")
    # The account that the person has switched to; None if they belong to none.
    current_account_id: Mapped[str | None] = mapped_column(
        Key, ForeignKey("accounts.id", ondelete="SET NULL")
    )
    token_hash: Mapped[str] = mapped_column(Hash, unique=True)
    address: Mapped[str] = mapped_column(String(45))  # the client's when it signed in
    browser: Mapped[str] = mapped_column(String(300))  # the User-Agent header
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime] = mapped_column(Timestamp)
    # The last confirmation in it by second factor or, without one, by password.
    confirmed_at: Mapped[datetime | None] = mapped_column(Timestamp)
