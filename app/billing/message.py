"""What a billing system tells of an account, in the one form that both routes bring it into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from app.policy.plans import DEFAULT_PLAN

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
class Message:
    """One event of a billing system.

    ``id`` is unique within its ``source``, ``at`` is the event's own time in UTC, and ``body`` the
    text that was signed. Without an ``account_id`` it is about the account of ``customer_id``.
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
        """The plan that the account shall be on after this, or None when it stays as it is."""
        return DEFAULT_PLAN if self.type == "subscription.canceled" else self.plan

    @property
    def position(self) -> str:
        """Where this stands among the events of an account's subscription; as text it sorts so.

        By time, by what happens first, and then by id, so that any two have an order.
        """
        moment = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        return f"{moment} {_SUBSCRIPTION.index(self.type)} {self.id} {self.source}"

    @property
    def default_status(self) -> str:
        """The last word of the type."""
        return self.type.rpartition(".")[2]


def message_of(loaded: Mapping[str, Any], body: str) -> Message:
    """The message of a body of ``/api/billing/webhook`` that was loaded by its schema."""
    invoice = loaded.get("invoice")
    return Message(
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
