"""Deliveries of events to webhooks, and the log of attempts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, foreign_key, partial_index


class Delivery(Base):
    """An event for a webhook, attempted until it succeeds or the schedule ends."""

    __tablename__ = "deliveries"
    __table_args__ = (
        CheckConstraint("cause IN ('event', 'test', 'replay', 'redelivery')", name="cause"),
        CheckConstraint("state IN ('pending', 'succeeded', 'failed', 'canceled')", name="state"),
        partial_index("ix_deliveries_due", "webhook_id", "due_at", where="due_at IS NOT NULL"),
        Index(None, "event_id", "webhook_id"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    webhook_id: Mapped[str] = foreign_key("webhooks.id")
    event_id: Mapped[str] = foreign_key("events.id")
    cause: Mapped[str] = mapped_column(String(10))
    state: Mapped[str] = mapped_column(String(10))
    attempts: Mapped[int] = mapped_column(Integer)  # with an outcome
    # When the next attempt is due, or the lease of a claimed delivery expires; None: no more.
    due_at: Mapped[datetime | None] = mapped_column(Timestamp)
    claim: Mapped[str | None] = mapped_column(Key)  # the run that has claimed it
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class DeliveryLog(Base):
    """One attempt."""

    __tablename__ = "delivery_logs"
    __table_args__ = (
        CheckConstraint("status IN ('success', 'failed')", name="status"),
        # With all columns that lists filter by, so that counting reads only the index.
        Index(None, "webhook_id", "id", "status", "event_type", "delivered_at"),
        Index(None, "delivery_id"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    webhook_id: Mapped[str] = foreign_key("webhooks.id")
    delivery_id: Mapped[str] = mapped_column(Key)
    event_id: Mapped[str] = mapped_column(Key)
    event_type: Mapped[str] = mapped_column(String(40))
    cause: Mapped[str] = mapped_column(String(10))
    attempt: Mapped[int] = mapped_column(Integer)
    status: Mapped[str] = mapped_column(String(10))
    response_code: Mapped[int | None] = mapped_column(Integer)
    response_time_ms: Mapped[int] = mapped_column(Integer)  # the whole attempt
    error: Mapped[str | None] = mapped_column(String(100))
    sent_at: Mapped[datetime] = mapped_column(Timestamp)  # when the attempt began
    delivered_at: Mapped[datetime] = mapped_column(Timestamp)  # when it ended
    next_retry_at: Mapped[datetime | None] = mapped_column(Timestamp)
    resolve_ms: Mapped[int | None] = mapped_column(Integer)
    connect_ms: Mapped[int | None] = mapped_column(Integer)
    tls_ms: Mapped[int | None] = mapped_column(Integer)
    # From the request to the response's status.
    wait_ms: Mapped[int | None] = mapped_column(Integer)


class AttemptCount(Base):
    """The number of attempts to reach a webhook by hour, status and duration, for charts, which
    cannot read a million entries of the log."""

    __tablename__ = "attempt_counts"
    __table_args__ = (
        CheckConstraint("status IN ('success', 'failed')", name="status"),
        Index(None, "hour"),
    )

    account_id: Mapped[str] = mapped_column(Key)
    webhook_id: Mapped[str] = foreign_key("webhooks.id", primary_key=True)
    hour: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)  # its beginning
    status: Mapped[str] = mapped_column(String(10), primary_key=True)
    # The duration, rounded up to one of ``app.policy.deliveries.LATENCY_STEPS``; 0 for failures.
    took_ms: Mapped[int] = mapped_column(Integer, primary_key=True)
    number: Mapped[int] = mapped_column(Integer)
