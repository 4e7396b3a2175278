"""Webhooks and replays."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, Boolean, CheckConstraint, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, foreign_key


class Webhook(Base):
    """A URL that an account's events are sent to."""

    __tablename__ = "webhooks"
    __table_args__ = (
        CheckConstraint("disabled_reason IN ('manual', 'failing', 'gone')", name="disabled_reason"),
        Index(None, "account_id", "id"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    url: Mapped[str] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    events: Mapped[list[str]] = mapped_column(JSON)  # types, or "*"
    enabled: Mapped[bool] = mapped_column(Boolean)
    disabled_reason: Mapped[str | None] = mapped_column(String(20))
    sealed_secret: Mapped[str] = mapped_column(Text)
    # The secret before the last rotation; signs too until ``former_secret_until``.
    sealed_former_secret: Mapped[str | None] = mapped_column(Text)
    former_secret_until: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
    last_success_at: Mapped[datetime | None] = mapped_column(Timestamp)
    consecutive_failures: Mapped[int] = mapped_column(Integer, default=0)
    failing_since: Mapped[datetime | None] = mapped_column(Timestamp)  # since the last success
    given_up_at: Mapped[datetime | None] = mapped_column(Timestamp)  # the first since then
    warned_at: Mapped[datetime | None] = mapped_column(Timestamp)
    # When it was last disabled; pending deliveries from then or earlier are canceled.
    canceled_at: Mapped[datetime | None] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)  # a job deletes the rows


class Replay(Base):
    """Past events to send to a webhook again, some at a time. The last one of a webhook is kept."""

    __tablename__ = "replays"
    __table_args__ = (Index(None, "webhook_id"), Index(None, "next_at"))

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    webhook_id: Mapped[str] = foreign_key("webhooks.id")
    since: Mapped[datetime] = mapped_column(Timestamp)
    until: Mapped[datetime] = mapped_column(Timestamp)
    event_types: Mapped[list[str]] = mapped_column(JSON)
    only_failed: Mapped[bool] = mapped_column(Boolean)
    last_event_id: Mapped[str] = mapped_column(Key)  # the last one queued
    next_at: Mapped[datetime] = mapped_column(Timestamp)  # when the next ones are queued
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    total: Mapped[int] = mapped_column(Integer)  # events, as it began
    queued: Mapped[int] = mapped_column(Integer)  # those queued already
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)  # when all were queued
