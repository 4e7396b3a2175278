"""People, and the accounts that they belong to."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Hash, Key, Timestamp, foreign_key


class User(Base):
    """A person. Email addresses are unique, ignoring case."""

    __tablename__ = "users"
    __table_args__ = (Index(None, "created_at", "id"),)

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    email_key: Mapped[str] = mapped_column(String(254), unique=True)  # case-folded
    name: Mapped[str] = mapped_column(String(200))
    password_hash: Mapped[str | None] = mapped_column(String(200))
    email_verified_at: Mapped[datetime | None] = mapped_column(Timestamp)
    time_zone: Mapped[str | None] = mapped_column(String(64))  # Europe/Berlin; None: the browser's
    # de-AT (app/policy/locales.json); None as above. The column had formats of dates alone once,
    # and earlier code runs on it.
    locale: Mapped[str | None] = mapped_column("date_format", String(20))
    area_unit: Mapped[str | None] = mapped_column(String(10))  # app.values.formats; None: hectares
    # The time since which they have an authenticator app or a passkey; None without one.
    second_factor_since: Mapped[datetime | None] = mapped_column(Timestamp)
    operator_since: Mapped[datetime | None] = mapped_column(Timestamp)  # None: not an operator
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class Membership(Base):
    """A person's membership in an account: invited until ``joined_at`` is set."""

    __tablename__ = "memberships"
    __table_args__ = (
        CheckConstraint("role IN ('viewer', 'editor', 'admin', 'owner')", name="role"),
        Index(None, "user_id"),
        Index(None, "invitation_hash", unique=True),
    )

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    user_id: Mapped[str] = foreign_key("users.id", primary_key=True)
    role: Mapped[str] = mapped_column(String(10))
    invited_at: Mapped[datetime | None] = mapped_column(Timestamp)
    # The hash of the latest invitation link, until it is accepted.
    invitation_hash: Mapped[str | None] = mapped_column(Hash)
    invitation_expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    joined_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_active_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
