"""Accounts, which are the tenants, with their usage."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, foreign_key, one_of_words, partial_index
from app.policy.request_limits import ACCOUNT_TYPES


class Account(Base):
    __tablename__ = "accounts"
    __table_args__ = (
        one_of_words("type", ACCOUNT_TYPES),
        Index(None, "created_at", "id"),
        partial_index(None, "deletes_at", where="deletes_at IS NOT NULL"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    slug: Mapped[str] = mapped_column(String(63), unique=True)
    type: Mapped[str] = mapped_column(String(20))
    plan: Mapped[str] = mapped_column(String(50))
    # Members need a second factor from then on, after this number of days.
    second_factor_required_at: Mapped[datetime | None] = mapped_column(Timestamp)
    second_factor_grace_days: Mapped[int | None] = mapped_column(SmallInteger)
    # The scheduled deletion, and the owner who scheduled it.
    deletes_at: Mapped[datetime | None] = mapped_column(Timestamp)
    deletion_scheduled_by: Mapped[str | None] = mapped_column(Key)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class AccountUsage(Base):
    """Usage counters of an account, updated in the transaction of each change.

    A separate row, so that counting does not lock the account. Areas are whole square meters,
    because integers add up exactly.
    """

    __tablename__ = "account_usage"

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    projects_active: Mapped[int] = mapped_column(BigInteger, default=0)
    projects_archived: Mapped[int] = mapped_column(BigInteger, default=0)
    projects_draft: Mapped[int] = mapped_column(BigInteger, default=0)
    area_m2: Mapped[int] = mapped_column(BigInteger, default=0)  # without archived projects
    members: Mapped[int] = mapped_column(BigInteger, default=0)
    # UTF-8 bytes of boundaries, former ones too, and of the metadata of projects and assets.
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    # Bytes of events, audit log entries and deliveries (app.maintenance.history_bytes).
    history_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    # Grows with each change of a project and of its shapes on maps.
    map_version: Mapped[int] = mapped_column(BigInteger, default=0)
    # Grows with each change of a project or an asset (app.lists.totals).
    lists_version: Mapped[int] = mapped_column(BigInteger, default=0)
    # The number of reached thresholds of each limit (app.usage.thresholds); for requests in the
    # month ``requests_period``, such as 2026-01.
    hectares_level: Mapped[int] = mapped_column(SmallInteger, default=0)
    members_level: Mapped[int] = mapped_column(SmallInteger, default=0)
    requests_level: Mapped[int] = mapped_column(SmallInteger, default=0)
    requests_period: Mapped[str] = mapped_column(String(7), default="")
