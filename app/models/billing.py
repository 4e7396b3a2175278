"""Events from billing systems, and the subscription state of accounts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Timestamp, foreign_key

# Ids of external systems. Collated as in ``Key``.
ExternalId = String(255).with_variant(String(255, collation="C"), "postgresql")


class BillingEvent(Base):
    """An event as received; ``body`` is the raw request. Kept forever, as a ledger."""

    __tablename__ = "billing_events"
    __table_args__ = (
        CheckConstraint("source IN ('billing', 'payment_provider')", name="source"),
        Index(None, "account_id", "created_at", "id"),
    )

    source: Mapped[str] = mapped_column(String(20), primary_key=True)
    id: Mapped[str] = mapped_column(ExternalId, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    type: Mapped[str] = mapped_column(String(40))
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Timestamp)  # the event's own time
    received_at: Mapped[datetime] = mapped_column(Timestamp)


class BillingSubscription(Base):
    """The last applied events of an account's subscription.

    The columns are the positions (``app.account.billing.message``) of the newest event, and of the
    newest one with a plan; empty without one.
    """

    __tablename__ = "billing_subscriptions"

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    newest: Mapped[str] = mapped_column(Text, default="")
    newest_with_plan: Mapped[str] = mapped_column(Text, default="")


class BillingCustomer(Base):
    """The account of a customer of the payment provider, as named by an event."""

    __tablename__ = "billing_customers"
    __table_args__ = (Index(None, "account_id"),)

    customer_id: Mapped[str] = mapped_column(ExternalId, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    named_at: Mapped[datetime] = mapped_column(Timestamp)  # the time of that event
