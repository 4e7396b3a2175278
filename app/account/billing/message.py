"""Events of billing systems, in a common form for both routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from app.policy.plans import BASE_PLAN

BILLING: Final = "billing"
PAYMENT_PROVIDER: Final = "payment_provider"

# The types of events about subscriptions, in the order in which they happen.
_SUBSCRIPTION: Final = ("subscription.created", "subscription.updated", "subscription.canceled")
_INVOICE: Final = ("invoice.paid", "invoice.failed")
TYPES: Final = (*_SUBSCRIPTION, *_INVOICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """An invoice. ``amount`` is in the currency's minor units, such as cents."""

    id: str
    amount: int
    currency: str
    status: str | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingMessage:
    """One event of a billing system.

    ``id`` is unique within its ``source``, ``at`` is the event's own time in UTC, and ``body`` is
    the signed text. Without an ``account_id``, the account is the one with ``customer_id``.
    """

    source: str
    id: str
    type: str
    at: datetime
    body: str
    account_id: str | None = None
    customer_id: str | None = None
    plan: str | None = None
    status: str | None = None
    current_period_end: datetime | None = None
    invoice: Invoice | None = None

    @property
    def is_of_subscription(self) -> bool:
        return self.type in _SUBSCRIPTION

    @property
    def new_plan(self) -> str | None:
        """The account's plan after this event, or None if it does not change."""
        return BASE_PLAN if self.type == "subscription.canceled" else self.plan

    @property
    def position(self) -> str:
        """A key that sorts the events of subscriptions by time, type, id and source. No two events
        have the same."""
        time = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        return f"{time} {_SUBSCRIPTION.index(self.type)} {self.id} {self.source}"

    @property
    def default_status(self) -> str:
        """The last part of the type, such as ``canceled``."""
        return self.type.rpartition(".")[2]


def message_of(loaded: Mapping[str, Any], body: str) -> BillingMessage:
    """Convert a validated body of ``/api/billing/webhook``."""
    invoice = loaded.get("invoice")
    return BillingMessage(
        source=BILLING,
        id=loaded["id"],
        type=loaded["type"],
        at=loaded["created_at"],
        body=body,
        account_id=loaded["account_id"],
        plan=loaded.get("plan"),
        status=loaded.get("status"),
        current_period_end=loaded.get("current_period_end"),
        invoice=None if invoice is None else Invoice(**invoice),
    )
