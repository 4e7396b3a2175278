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


def test_an_event_is_stored_raw_under_the_translated_type(client: Client) -> None:
    for number, (type_, name) in enumerate(NAMES.items()):
        body = stripe_event(type_, _about(client, type_), created=NOW + number)
        raw = json.dumps(body, indent=2, ensure_ascii=False)
        assert result(send_stripe(client, raw)) == "applied"
        assert result(send_stripe(client, raw)) == "repeated"
        [stored] = [row for row in ledger(client) if row.id == body["id"]]
        assert stored.body == raw
        assert (stored.source, stored.type) == ("payment_provider", name)
        assert stored.created_at.timestamp() == NOW + number
    assert event_types(client) == list(NAMES.values())


def test_the_status_says_whether_the_plan_is_that_of_the_price(open_app: Flask) -> None:
    for type_, status, becomes in (
        *((UPDATED, status, "pro") for status in ("active", "trialing", "past_due")),
        *((UPDATED, status, "free") for status in ("unpaid", "canceled")),
        *((UPDATED, status, "enterprise") for status in ("incomplete_expired", "paused")),
        (UPDATED, "some new status", "enterprise"),
        (CREATED, "incomplete", "enterprise"),
        (CREATED, "active", "pro"),
        (DELETED, "active", "free"),
    ):
        client = make_account(open_app, plan="enterprise")
        about = _about(client, type_, plan="pro", status=status)
        assert _send_event(client, type_, about) == "applied"
        assert plan(client) == becomes, (type_, status)
        assert events(client)[0]["data"] == {
            "plan": becomes,
            "previous_plan": "enterprise",
            "status": status,
            "current_period_end": "2027-01-16T08:00:00.000Z",
        }


def test_a_deleted_subscription_means_free_whatever_its_price(open_app: Flask) -> None:
    client = make_account(open_app, plan="enterprise")
    _send_event(client, DELETED, _about(client, DELETED, plan="a price of old"))
    assert plan(client) == "free"


def test_period_end_in_older_api_versions(client: Client) -> None:
    items = {"data": [{"price": {"lookup_key": "pro"}}]}
    _send_event(client, UPDATED, _about(client, UPDATED, items=items, current_period_end=NOW + 60))
    assert events(client)[0]["data"]["current_period_end"] == "2027-01-15T08:01:00.000Z"


def test_a_price_without_a_lookup_key_leaves_the_plan(client: Client) -> None:
    for number, items in enumerate(
        (
            None,
            {"data": []},
            {"data": [{"price": None}]},
            {"data": [{"price": {"lookup_key": None}}]},
            {"data": [{"price": {}}, {"price": {"lookup_key": "pro"}}]},
        )
    ):
        about = _about(client, UPDATED, items=items)
        assert _send_event(client, UPDATED, about, created=NOW + number) == "applied"
        assert plan(client) == "free", items
        assert events(client)[-1]["data"]["current_period_end"] is None


def test_an_invoice_is_in_minor_units(client: Client) -> None:
    for type_, amount, status in ((PAID, 4800, "paid"), (FAILED, 4900, "open")):
        amounts = {"amount_paid": 4800, "amount_due": 4900, "status": status, "currency": "jpy"}
        _send_event(client, type_, _about(client, type_, **amounts) | {"due_date": NOW - 1})
        assert events(client)[-1]["data"] == {
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


def test_the_three_places_of_an_invoices_account(client: Client) -> None:
    own = {"account_id": client.account_id}
    for place in (
        {"metadata": own},
        {"metadata": None, "subscription_details": {"metadata": own}},
        {"parent": {"type": "x", "subscription_details": {"metadata": own}}},
        {"metadata": own, "subscription_details": {"metadata": {"account_id": "x"}}},
    ):
        assert _send_event(client, PAID, stripe_invoice(**place)) == "applied"
    assert event_types(client) == ["invoice.paid"] * 4


def test_a_customer_is_remembered(client: Client) -> None:
    names = list(NAMES)
    for first, then in zip(names, names[1:] + names[:1], strict=True):
        customer = f"cus_{first}_{client.account_id}"
        nameless = _about(client, then, customer=customer) | {"metadata": {}}
        unknown = stripe_event(then, nameless, created=NOW + 1)
        assert invalid_fields(send_stripe(client, unknown)) == ["account_id"]
        _send_event(client, first, _about(client, first, customer=customer))
        assert result(send_stripe(client, unknown)) in ("applied", "ignored")


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


def test_an_unknown_account_is_rejected(client: Client) -> None:
    """Even if the customer is known: an account in the event takes precedence."""
    customer = f"cus_{client.account_id}"
    _send_event(client, PAID, _about(client, PAID, customer=customer))
    before = everything(client)
    for type_ in (UPDATED, PAID):
        for account_id in ("", "acct_x", "acct_" + "0" * 26, "a\x00", "x" * 9999):
            named = {"metadata": {"account_id": account_id}}
            body = stripe_event(type_, _about(client, type_, customer=customer) | named)
            assert invalid_fields(send_stripe(client, body)) == ["account_id"]
    nobody = stripe_event(PAID, stripe_invoice(customer="cus_unknown"))
    assert invalid_fields(send_stripe(client, nobody)) == ["account_id"]
    assert everything(client) == before


def test_an_unknown_plan_is_rejected(client: Client) -> None:
    before, customer = everything(client), f"cus_{client.account_id}"
    for lookup_key in ("gold", "", "a\x00", "x" * 9999):
        about = _about(client, CREATED, plan=lookup_key, customer=customer)
        assert invalid_fields(send_stripe(client, stripe_event(CREATED, about))) == ["plan"]
    assert everything(client) == before
    assert event_types(client) == []


def test_an_unused_plan_may_be_unknown(client: Client) -> None:
    about = _about(client, UPDATED, plan="gold", status="incomplete")
    assert _send_event(client, UPDATED, about) == "applied"


def test_an_unknown_type_is_ignored(client: Client) -> None:
    before = everything(client)
    for type_ in ("customer.created", "subscription.created", ""):
        for body in ({"id": 5, "data": None}, {"created": "x"}, {}):
            assert _send_event(client, type_, _about(client, UPDATED), **body) == "ignored"
    assert everything(client) == before


def test_invalid_members_of_an_event_are_rejected(client: Client) -> None:
    for type_ in (UPDATED, PAID):
        for field, value in (
            *(("id", value) for value in (None, 5, "", "x" * 256, "a\x00")),
            *(("created", value) for value in (None, "1800000000", 1.8e9, True, 2**62, -(2**62))),
            *(("data", value) for value in (None, [], "x")),
        ):
            body = stripe_event(type_, _about(client, type_), **{field: value})
            assert invalid_fields(send_stripe(client, body)) == [field], value
        for field in ("id", "created", "data"):
            body = _without(stripe_event(type_, _about(client, type_)), field)
            assert invalid_fields(send_stripe(client, body)) == [field]
    assert ledger(client) == []


def test_invalid_members_of_an_object_are_rejected(client: Client) -> None:
    for type_, fields, refused in (
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
    ):
        body = stripe_event(type_, _about(client, type_) | fields)
        assert invalid_fields(send_stripe(client, body)) == [f"data.object.{refused}"]
    assert ledger(client) == []
