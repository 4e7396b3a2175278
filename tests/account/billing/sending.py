"""Sending events as billing systems do, and reading their effects."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any, Final

import stripe
from werkzeug.test import TestResponse

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Account, BillingCustomer, BillingEvent, BillingSubscription
from tests.make import Client
from tests.make.signed import post, post_signed

SECRET: Final = "the billing system's secret"
STRIPE_SECRET: Final = "whsec_of_the_endpoint"
WEBHOOK: Final = "/api/billing/webhook"
STRIPE_WEBHOOK: Final = "/api/billing/payment-provider-webhook"
NOW: Final = 1_800_000_000  # 2027-01-15T08:00:00Z, as Stripe says it

_numbers = itertools.count(1)


def new_name(prefix: str) -> str:
    """A unique id."""
    return f"{prefix}_{time.time_ns()}_{next(_numbers)}"


def event(client: Client, type: str = "subscription.updated", **fields: Any) -> dict[str, Any]:
    """A body for WEBHOOK; fields given as ``...`` are omitted."""
    body: dict[str, Any] = {
        "id": new_name("be"),
        "type": type,
        "created_at": "2027-01-15T08:00:00Z",
        "account_id": client.account_id,
    }
    if type.startswith("invoice."):
        body["invoice"] = invoice()
    body |= fields
    return {name: value for name, value in body.items() if value is not ...}


def invoice(**fields: Any) -> dict[str, Any]:
    body = {
        "id": "in_1",
        "amount": 4900,
        "currency": "eur",
        "status": "open",
        "due_at": "2027-02-01T00:00:00+01:00",
    }
    body |= fields
    return {name: value for name, value in body.items() if value is not ...}


def stripe_event(type: str, about: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A body for STRIPE_WEBHOOK, with the other members that Stripe's events have."""
    return {
        "id": new_name("evt"),
        "object": "event",
        "api_version": "2025-03-31.basil",
        "created": NOW,
        "type": type,
        "livemode": False,
        "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None},
        "data": {"object": about, "previous_attributes": {"status": "incomplete"}},
    } | fields


def subscription(account_id: str | None, plan: str | None = "pro", **fields: Any) -> dict[str, Any]:
    """A Stripe subscription as the newer versions of its API show it."""
    price = {"id": "price_1", "object": "price", "lookup_key": plan, "unit_amount": 4900}
    item = {"id": "si_1", "object": "subscription_item", "price": price, "quantity": 1}
    return {
        "id": "sub_1",
        "object": "subscription",
        "customer": None,
        "status": "active",
        "metadata": {} if account_id is None else {"account_id": account_id, "note": "x"},
        "items": {"object": "list", "data": [item | {"current_period_end": NOW + 86_400}]},
        "latest_invoice": "in_1",
    } | fields


def stripe_invoice(**fields: Any) -> dict[str, Any]:
    """A Stripe invoice that does not name its account."""
    return {
        "id": "in_1",
        "object": "invoice",
        "customer": None,
        "status": "open",
        "currency": "usd",
        "amount_due": 4900,
        "amount_paid": 0,
        "due_date": None,
        "metadata": {},
        "lines": {"object": "list", "data": []},
    } | fields


def send(client: Client, body: Any, *, secret: str = SECRET, **headers: str) -> TestResponse:
    """Sign a body, given as a dict or bytes, and POST it to WEBHOOK."""
    return post_signed(client, WEBHOOK, body, secret, headers)


def send_stripe(client: Client, body: Any, *, at: int | None = None) -> TestResponse:
    """Sign a body as Stripe's own library does, and POST it to STRIPE_WEBHOOK."""
    raw = body if isinstance(body, str) else json.dumps(body)
    header = stripe.WebhookSignature.generate_signature_header(raw, STRIPE_SECRET, at)
    return post(client, STRIPE_WEBHOOK, raw.encode(), {"Stripe-Signature": header})


def invalid_fields(response: TestResponse) -> list[str]:
    """The fields named by a 422 response."""
    assert response.status_code == 422, response.get_data(as_text=True)
    assert response.json["error"]["code"] == "VALIDATION_ERROR"
    return sorted({detail["field"] for detail in response.json["error"]["details"]})


def plan(client: Client) -> str:
    with client.app.app_context():
        return db.session.get_one(Account, client.account_id).plan


def ledger(client: Client) -> list[BillingEvent]:
    """The stored events of an account, by id."""
    return _rows(client, BillingEvent, BillingEvent.id)


def everything(client: Client) -> tuple[Any, ...]:
    """Everything that an event could change for the account."""
    with client.app.app_context():
        account = db.session.get_one(Account, client.account_id)
        state = (account.plan, account.updated_at)
    return (
        state,
        [(row.source, row.id, row.body) for row in ledger(client)],
        [(row.newest, row.newest_with_plan) for row in _rows(client, BillingSubscription)],
        [(row.customer_id, row.named_at) for row in _rows(client, BillingCustomer)],
    )


def _rows(client: Client, model: Any, *order: Any) -> list[Any]:
    with client.app.app_context():
        return list(db.session.scalars(rows_of(client.account_id, model).order_by(*order)))
