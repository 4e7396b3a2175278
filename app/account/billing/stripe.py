"""Verifying the signatures of Stripe's events, and converting the events into messages.

https://docs.stripe.com/webhooks#verify-manually and https://docs.stripe.com/api/events/object
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from app.account.billing.message import PAYMENT_PROVIDER, BillingMessage, Invoice
from app.policy.plans import BASE_PLAN
from app.security.signatures import is_same, sign_body

SIGNATURE: Final = "Stripe-Signature"
TOLERANCE_SECONDS: Final = 300

# Stripe's event types, and their names here.
TYPES: Final = {
    "customer.subscription.created": "subscription.created",
    "customer.subscription.updated": "subscription.updated",
    "customer.subscription.deleted": "subscription.canceled",
    "invoice.paid": "invoice.paid",
    "invoice.payment_failed": "invoice.failed",
}
# Subscription statuses with the plan of the price, and with the default plan. In any other status
# (incomplete, incomplete_expired, paused) the account's plan does not change.
_ON_PLAN: Final = frozenset({"active", "trialing", "past_due", None})
_OFF_PLAN: Final = frozenset({"unpaid", "canceled"})


def is_signed(secret: str, body: bytes, header: str | None, now: datetime) -> bool:
    """Verify the ``Stripe-Signature`` of a body, made within ``TOLERANCE_SECONDS`` of ``now``.

    The header is ``t=<epoch seconds>,v1=<HMAC of "t.body">``, with several v1 while a secret is
    being rotated.
    """
    items = [item.split("=", 2) for item in (header or "").split(",")]
    try:
        times = [item[1] for item in items if item[0] == "t"]
        signed_at = int(times[0])
        signatures = [item[1] for item in items if item[0] == "v1"]
    except (IndexError, ValueError):
        return False
    seconds = now.timestamp()
    if not seconds - TOLERANCE_SECONDS <= signed_at <= seconds + TOLERANCE_SECONDS:
        return False
    expected = sign_body(secret, b"%d.%b" % (signed_at, body))
    return any(is_same(signature, expected) for signature in signatures)


def message_of(loaded: Mapping[str, Any], body: str) -> BillingMessage:
    """Convert an event that was validated by its schema."""
    is_invoice = loaded["type"].startswith("invoice.")
    return _invoice_message(loaded, body) if is_invoice else _subscription_message(loaded, body)


def _subscription_message(loaded: Mapping[str, Any], body: str) -> BillingMessage:
    subscription = loaded["data"]["object"]
    items: list[dict[str, Any]] = _get_nested(subscription, "items", "data") or [{}]
    item = items[0]
    period_end = subscription.get("current_period_end") or item.get("current_period_end")
    is_deleted = loaded["type"] == "customer.subscription.deleted"
    status = "canceled" if is_deleted else subscription.get("status")
    return BillingMessage(
        **_common_event_fields(loaded),
        body=body,
        account_id=_get_nested(subscription, "metadata", "account_id"),
        plan=_plan_of_price(status, _get_nested(item, "price", "lookup_key")),
        status=subscription.get("status"),
        current_period_end=period_end,
    )


def _invoice_message(loaded: Mapping[str, Any], body: str) -> BillingMessage:
    invoice = loaded["data"]["object"]
    paths = (
        ("metadata", "account_id"),
        ("subscription_details", "metadata", "account_id"),
        ("parent", "subscription_details", "metadata", "account_id"),
    )
    account_ids = (_get_nested(invoice, *path) for path in paths)
    return BillingMessage(
        **_common_event_fields(loaded),
        body=body,
        account_id=next((id_ for id_ in account_ids if id_ is not None), None),
        invoice=Invoice(
            id=invoice["id"],
            amount=invoice["amount"],
            currency=invoice["currency"],
            status=invoice.get("status"),
            due_at=invoice.get("due_date"),
        ),
    )


def _common_event_fields(loaded: Mapping[str, Any]) -> dict[str, Any]:
    """The fields common to all of Stripe's events."""
    return {
        "source": PAYMENT_PROVIDER,
        "id": loaded["id"],
        "type": TYPES[loaded["type"]],
        "at": loaded["created"],
        "customer_id": loaded["data"]["object"].get("customer"),
    }


def _plan_of_price(status: str | None, lookup_key: str | None) -> str | None:
    if status in _OFF_PLAN:
        return BASE_PLAN
    return lookup_key if status in _ON_PLAN else None


def _get_nested(value: Any, *names: str) -> Any:
    """A nested value, or None if one of the names is absent or null."""
    for name in names:
        value = None if value is None else value.get(name)
    return value
