"""Sign-ups, mailed links and failed sign-ins."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Timestamp, foreign_key


class SignUp(Base):
    """A sign-up that waits for its email address to be confirmed."""

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
    """A link that was mailed to a person. It is deleted when it is used."""

    __tablename__ = "mailed_links"
    __table_args__ = (
        CheckConstraint("purpose IN ('reset_password', 'verify_email')", name="purpose"),
        Index(None, "user_id"),
        Index(None, "expires_at"),
    )

    token_hash: Mapped[str] = mapped_column(Hash, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[str] = foreign_key("users.id")
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class SignInFailure(Base):
    """Attempts at a password or a code under one key of ``app.auth.login_throttle`` in the current
    window. A successful attempt deletes the row.
    """

    __tablename__ = "sign_in_failures"
    __table_args__ = (Index(None, "began_at"),)

    key: Mapped[str] = mapped_column(Hash, primary_key=True)
    failures: Mapped[int] = mapped_column(Integer)
    began_at: Mapped[datetime] = mapped_column(Timestamp)
