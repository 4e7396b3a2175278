"""What leads to being signed in: sign-ups, mailed links, and tries of passwords."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp


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
    """Tries of a password for one address in a while, whether anybody has that address or not; the
    right one ends them."""

    __tablename__ = "sign_in_failures"
    __table_args__ = (Index(None, "began_at"),)

    key: Mapped[str] = mapped_column(Hash, primary_key=True)
    failures: Mapped[int] = mapped_column(Integer)
    began_at: Mapped[datetime] = mapped_column(Timestamp)
