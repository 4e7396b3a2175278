"""POST /api/billing/payment-provider-webhook: the effects of Stripe's events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask

from tests.account.billing.sending import (
    NOW,
    everything,
    invalid_fields,
    ledger,
    plan,
    send_stripe,
    stripe_event,
    stripe_invoice,
    subscription,
)
from tests.make import Client, event_types, events, make_account
from tests.make.signed import result

CREATED = "customer.subscription.created"
UPDATED = "customer.subscription.updated"
DELETED = "customer.subscription.deleted"
PAID = "invoice.paid"
FAILED = "invoice.payment_failed"
NAMES = {
    CREATED: "subscription.created",
    UPDATED: "subscription.updated",
    DELETED: "subscription.canceled",
    PAID: "invoice.paid",
    FAILED: "invoice.failed",
}


def _about(client: Client, type_: str, **fields: Any) -> dict[str, Any]:
    """An object for the event type, of the client's account."""
    own = {"account_id": client.account_id}
    if type_.startswith("invoice."):
        return stripe_invoice(**{"metadata": own} | fields)
    return subscription(client.account_id, **fields)


def _send_event(client: Client, type_: str, about: dict[str, Any], **fields: Any) -> str:
    return result(send_stripe(client, stripe_event(type_, about, **fields)))


def _without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


@pytest.mark.parametrize(("type_", "name"), NAMES.items())
def test_an_event_is_stored_raw_under_the_translated_type(
    client: Client, type_: str, name: str
) -> None:
    body = stripe_event(type_, _about(client, type_))
    raw = json.dumps(body, indent=2, ensure_ascii=False)
    assert result(send_stripe(client, raw)) == "applied"
    assert result(send_stripe(client, raw)) == "repeated"
    [kept] = ledger(client)
    assert kept.body == raw
    assert (kept.source, kept.id, kept.type) == ("payment_provider", body["id"], name)
    assert kept.created_at.timestamp() == NOW
    assert event_types(client) == [name]


@pytest.mark.parametrize(
    ("status", "becomes"),
    [
        *((status, "pro") for status in ("active", "trialing", "past_due")),
        *((status, "free") for status in ("unpaid", "canceled")),
        *((status, "enterprise") for status in ("incomplete", "incomplete_expired", "paused")),
        ("some new status", "enterprise"),
    ],
)
@pytest.mark.parametrize("type_", [CREATED, UPDATED])
def test_the_status_says_whether_the_plan_is_that_of_the_price(
    open_app: Flask, type_: str, status: str, becomes: str
) -> None:
    client = make_account(open_app, plan="enterprise")
    assert _send_event(client, type_, _about(client, type_, plan="pro", status=status)) == "applied"
    assert plan(client) == becomes
    assert events(client)[0]["data"] == {
        "plan": becomes,
        "previous_plan": "enterprise",
        "status": status,
        "current_period_end": "2027-01-16T08:00:00.000Z",
    }


@pytest.mark.parametrize("status", ["canceled", "active"])
def test_a_deleted_subscription_means_the_plan_free(open_app: Flask, status: str) -> None:
    client = make_account(open_app, plan="enterprise")
    _send_event(client, DELETED, _about(client, DELETED, plan="a price of old", status=status))
    assert plan(client) == "free"


def test_period_end_in_older_api_versions(client: Client) -> None:
    items = {"data": [{"price": {"lookup_key": "pro"}}]}
    _send_event(client, UPDATED, _about(client, UPDATED, items=items, current_period_end=NOW + 60))
    assert events(client)[0]["data"]["current_period_end"] == "2027-01-15T08:01:00.000Z"


@pytest.mark.parametrize(
    "items",
    [
        None,
        {"data": []},
        {"data": [{"price": None}]},
        {"data": [{"price": {"lookup_key": None}}]},
        {"data": [{"price": {}}, {"price": {"lookup_key": "pro"}}]},
    ],
)
def test_a_price_without_a_lookup_key_leaves_the_plan(client: Client, items: Any) -> None:
    assert _send_event(client, UPDATED, _about(client, UPDATED, items=items)) == "applied"
    assert plan(client) == "free"
    assert events(client)[0]["data"]["current_period_end"] is None


@pytest.mark.parametrize(
    ("type_", "amount", "status"), [(PAID, 4800, "paid"), (FAILED, 4900, "open")]
)
def test_an_invoice_is_in_minor_units(client: Client, type_: str, amount: int, status: str) -> None:
    about = _about(client, type_, amount_paid=4800, amount_due=4900, status=status, currency="jpy")
    _send_event(client, type_, about | {"due_date": NOW - 1})
    assert events(client)[0]["data"] == {
        "id": "in_1",
        "amount": amount,
        "currency": "jpy",
        "status": status,
        "due_at": "2027-01-15T07:59:59.000Z",
    }


def test_an_invoice_may_have_neither_status_nor_due_date(client: Client) -> None:
    _send_event(client, FAILED, _about(client, FAILED, status=None))
    data = events(client)[0]["data"]
    assert (data["status"], data["due_at"]) == ("failed", None)


@pytest.mark.parametrize(
    "place",
    [
        lambda own: {"metadata": own},
        lambda own: {"metadata": None, "subscription_details": {"metadata": own}},
        lambda own: {"parent": {"type": "x", "subscription_details": {"metadata": own}}},
        lambda own: {"metadata": own, "subscription_details": {"metadata": {"account_id": "x"}}},
    ],
)
def test_the_three_places_of_an_invoices_account(client: Client, place: Any) -> None:
    about = stripe_invoice(**place({"account_id": client.account_id}))
    assert _send_event(client, PAID, about) == "applied"
    assert event_types(client) == ["invoice.paid"]


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("then", NAMES)
def test_a_customer_is_remembered(client: Client, first: str, then: str) -> None:
    customer = f"cus_{client.account_id}"
    nameless = _about(client, then, customer=customer) | {"metadata": {}}
    unknown = stripe_event(then, nameless)
    assert invalid_fields(send_stripe(client, unknown)) == ["account_id"]
    _send_event(client, first, _about(client, first, customer=customer))
    assert result(send_stripe(client, unknown | {"created": NOW + 1})) == "applied"
    assert event_types(client) == [NAMES[first], NAMES[then]]


def test_a_customer_is_also_remembered_from_an_ignored_event(client: Client) -> None:
    _send_event(client, UPDATED, _about(client, UPDATED), created=NOW + 1)
    late = _about(client, CREATED, customer=f"cus_{client.account_id}")
    assert _send_event(client, CREATED, late) == "ignored"
    about = stripe_invoice(customer=f"cus_{client.account_id}")
    assert _send_event(client, PAID, about) == "applied"


@pytest.mark.parametrize("turn", [1, -1])
def test_the_newest_account_of_a_customer_wins(client: Client, stranger: Client, turn: int) -> None:
    customer = f"cus_{client.account_id}"
    for second, one in list(enumerate((client, stranger)))[::turn]:
        _send_event(one, UPDATED, _about(one, UPDATED, customer=customer), created=NOW + second)
    _send_event(client, PAID, stripe_invoice(customer=customer))
    assert "invoice.paid" in event_types(stranger)
    assert "invoice.paid" not in event_types(client)


def test_an_event_without_account_does_not_change_the_customer(
    client: Client, stranger: Client
) -> None:
    customer = f"cus_{client.account_id}"
    _send_event(client, PAID, _about(client, PAID, customer=customer), created=NOW)
    _send_event(client, PAID, stripe_invoice(customer=customer), created=NOW + 2)
    _send_event(stranger, PAID, _about(stranger, PAID, customer=customer), created=NOW + 1)
    _send_event(client, FAILED, stripe_invoice(customer=customer))
    assert event_types(stranger) == ["invoice.paid", "invoice.failed"]


@pytest.mark.parametrize("type_", NAMES)
@pytest.mark.parametrize(
    "account_id", ["", "acct_x", "acct_" + "0" * 26, "a\x00", "x" * 9999, None]
)
def test_an_unknown_account_is_rejected(client: Client, type_: str, account_id: Any) -> None:
    """Even if the customer is known: an account in the event takes precedence."""
    customer = f"cus_{client.account_id}"
    if account_id is not None:
        _send_event(client, PAID, _about(client, PAID, customer=customer))
    before = everything(client)
    about = _about(client, type_, customer=customer) | {"metadata": {"account_id": account_id}}
    assert invalid_fields(send_stripe(client, stripe_event(type_, about))) == ["account_id"]
    assert everything(client) == before


@pytest.mark.parametrize("lookup_key", ["gold", "", "a\x00", "x" * 9999])
def test_an_unknown_plan_is_rejected(client: Client, lookup_key: str) -> None:
    before = everything(client)
    about = _about(client, CREATED, plan=lookup_key, customer=f"cus_{client.account_id}")
    assert invalid_fields(send_stripe(client, stripe_event(CREATED, about))) == ["plan"]
    assert everything(client) == before
    assert event_types(client) == []


def test_an_unused_plan_may_be_unknown(client: Client) -> None:
    about = _about(client, UPDATED, plan="gold", status="incomplete")
    assert _send_event(client, UPDATED, about) == "applied"


@pytest.mark.parametrize(
    "type_", ["customer.created", "subscription.created", "invoice.failed", ""]
)
def test_an_unknown_type_is_ignored(client: Client, type_: str) -> None:
    before = everything(client)
    for body in ({"id": 5, "data": None}, {"created": "x"}, {}):
        assert _send_event(client, type_, _about(client, UPDATED), **body) == "ignored"
    assert everything(client) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("id", value) for value in (None, 5, "", "x" * 256, "a\x00")),
        *(("created", value) for value in (None, "1800000000", 1.8e9, True, 2**62, -(2**62))),
        *(("data", value) for value in (None, [], "x")),
    ],
)
@pytest.mark.parametrize("type_", NAMES)
def test_invalid_members_of_an_event_are_rejected(
    client: Client, type_: str, field: str, value: Any
) -> None:
    body = stripe_event(type_, _about(client, type_), **{field: value})
    assert invalid_fields(send_stripe(client, body)) == [field]
    assert invalid_fields(send_stripe(client, _without(body, field))) == [field]
    assert ledger(client) == []


@pytest.mark.parametrize(
    ("type_", "fields", "refused"),
    [
        (UPDATED, {"status": 5}, "status"),
        (UPDATED, {"customer": {"id": "cus_1"}}, "customer"),
        (UPDATED, {"customer": "a\x00"}, "customer"),
        (UPDATED, {"metadata": []}, "metadata"),
        (UPDATED, {"metadata": {"account_id": 5}}, "metadata.account_id"),
        (UPDATED, {"items": []}, "items"),
        (UPDATED, {"items": {"data": {}}}, "items.data"),
        (UPDATED, {"items": {"data": [5]}}, "items.data.0"),
        (UPDATED, {"items": {"data": [{"price": "x"}]}}, "items.data.0.price"),
        (
            UPDATED,
            {"items": {"data": [{"price": {"lookup_key": 5}}]}},
            "items.data.0.price.lookup_key",
        ),
        (UPDATED, {"current_period_end": "x"}, "current_period_end"),
        (PAID, {"id": 5}, "id"),
        (PAID, {"amount_paid": None}, "amount_paid"),
        (PAID, {"amount_paid": 48.5}, "amount_paid"),
        (FAILED, {"amount_due": "4900"}, "amount_due"),
        (FAILED, {"currency": None}, "currency"),
        (FAILED, {"due_date": "x"}, "due_date"),
        (FAILED, {"parent": "x"}, "parent"),
        (FAILED, {"subscription_details": {"metadata": 5}}, "subscription_details.metadata"),
    ],
)
def test_invalid_members_of_an_object_are_rejected(
    client: Client, type_: str, fields: dict[str, Any], refused: str
) -> None:
    body = stripe_event(type_, _about(client, type_) | fields)
    assert invalid_fields(send_stripe(client, body)) == [f"data.object.{refused}"]
    assert ledger(client) == []
