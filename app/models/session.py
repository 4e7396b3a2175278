"""Browsers that people are signed in with, and what they need to become signed in."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.tables import Base, Hash, Key, Timestamp


class Session(Base):
    """A browser in which a person is signed in. The cookie holds the token, the row its hash."""

    __tablename__ = "sessions"
    __table_args__ = (Index(None, "user_id"), Index(None, "current_account_id"))

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    user_id: Mapped[str] = mapped_column(Key, ForeignKey("users.id", ondelete="CASCADE"))
    # The account that the person works in; None when they belong to none.
    current_account_id: Mapped[str | None] = mapped_column(
        Key, ForeignKey("accounts.id", ondelete="SET NULL")
    )
    token_hash: Mapped[str] = mapped_column(Hash, unique=True)
    address: Mapped[str] = mapped_column(String(45))  # of the client, when it signed in
    browser: Mapped[str] = mapped_column(String(300))  # what it called itself (User-Agent)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime] = mapped_column(Timestamp)


class SignUp(Base):
    """Somebody who wants an account, until they prove that the e-mail address is theirs."""

    __tablename__ = "sign_ups"
    __table_args__ = (Index(None, "expires_at"),)

    token_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    name: Mapped[str] = mapped_column(String(200))
    password_hash: Mapped[str] = mapped_column(String(200))
    account_name: Mapped[str] = mapped_column(String(200))
    account_slug: Mapped[str] = mapped_column(String(63))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class MailedLink(Base):
    """A link that was mailed to a person; it is deleted when it is followed to its end."""

    __tablename__ = "mailed_links"
    __table_args__ = (
        CheckConstraint("purpose IN ('reset_password', 'verify_email')", name="purpose"),
        Index(None, "user_id"),
        Index(None, "expires_at"),
    )

    token_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[str] = mapped_column(Key, ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class SignInFailure(Base):
    """Wrong passwords for one address in a while, whether anybody has that address or not."""

    __tablename__ = "sign_in_failures"
    __table_args__ = (Index(None, "began_at"),)

    key: Mapped[str] = mapped_column(Hash, primary_key=True)
    failures: Mapped[int] = mapped_column(Integer)
    began_at: Mapped[datetime] = mapped_column(Timestamp)
