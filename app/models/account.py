"""Accounts: the tenants. Everything else belongs to one."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp


class Account(Base):
    __tablename__ = "accounts"
    __table_args__ = (CheckConstraint("type IN ('individual', 'organization')", name="type"),)

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    slug: Mapped[str] = mapped_column(String(63), unique=True)
    type: Mapped[str] = mapped_column(String(20))
    plan: Mapped[str] = mapped_column(String(50))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class AccountUsage(Base):
    """What an account holds, counted in the transaction of each change.

    A row of its own, so that counting does not touch the account's record. Areas are whole square
    metres: integers add up exactly, however often they are added and taken away.
    """

    __tablename__ = "account_usage"

    account_id: Mapped[str] = mapped_column(
        Key, ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    projects_active: Mapped[int] = mapped_column(BigInteger, default=0)
    projects_archived: Mapped[int] = mapped_column(BigInteger, default=0)
    projects_draft: Mapped[int] = mapped_column(BigInteger, default=0)
    area_m2: Mapped[int] = mapped_column(BigInteger, default=0)  # of projects not archived
    members: Mapped[int] = mapped_column(BigInteger, default=0)
    # How many rungs towards each limit were told of (app.usage.thresholds); that of requests in
    # one month, 2026-01.
    hectares_level: Mapped[int] = mapped_column(SmallInteger, default=0)
    members_level: Mapped[int] = mapped_column(SmallInteger, default=0)
    requests_level: Mapped[int] = mapped_column(SmallInteger, default=0)
    requests_period: Mapped[str] = mapped_column(String(7), default="")


class RequestCount(Base):
    """Requests of an account on one day (UTC), copied by a job from the counters in the store."""

    __tablename__ = "request_counts"

    account_id: Mapped[str] = mapped_column(
        Key, ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[str] = mapped_column(String(10), primary_key=True)  # 2026-01-31
    requests: Mapped[int] = mapped_column(BigInteger)
