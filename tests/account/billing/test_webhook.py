"""POST /api/billing/webhook: signatures, validation and effects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.db.extensions import db
from app.security.signatures import signature_header
from app.values import clock
from tests.account.billing.sending import (
    SECRET,
    STRIPE_WEBHOOK,
    WEBHOOK,
    event,
    everything,
    invalid_fields,
    invoice,
    ledger,
    plan,
    send,
)
from tests.make import Client, event_types, events, make_account
from tests.make.signed import post, result

TYPES = (
    *("subscription.created", "subscription.updated", "subscription.canceled"),
    *("invoice.paid", "invoice.failed"),
)


@pytest.mark.provokes(503)
@pytest.mark.parametrize("path", [WEBHOOK, STRIPE_WEBHOOK])
def test_a_route_without_its_secret_is_disabled(app: Flask, path: str) -> None:
    response = post(make_account(app), path, b"{", {})
    assert response.status_code == 503
    assert response.json["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert "WEBHOOK_SECRET" in response.json["error"]["message"]


def test_a_wrong_signature_is_401(client: Client) -> None:
    before = everything(client)
    for signature in ("", "sha256=" + "0" * 64, "é"):
        response = send(client, event(client, plan="pro"), **{"X-Service-Signature": signature})
        assert response.status_code == 401
        assert "X-Service-Signature" in response.headers["WWW-Authenticate"]
    assert post(client, WEBHOOK, b"{}", {}).status_code == 401
    assert send(client, event(client), secret=SECRET + "s").status_code == 401
    assert everything(client) == before


def test_the_signature_is_checked_before_the_json(client: Client) -> None:
    for raw in (b"{", b"", b"\xff", b'{"a": 1, "a": 2}'):
        assert send(client, raw, secret="another").status_code == 401
        assert send(client, raw).status_code == (400 if raw else 422)


def test_an_integer_beyond_64_bits_is_rejected(client: Client) -> None:
    body = event(client, "invoice.paid", invoice=invoice(amount=2**63))
    assert send(client, body).status_code == 400
    body["invoice"]["amount"] = 2**63 - 1
    assert result(send(client, body)) == "applied"
    assert events(client)[0]["data"]["amount"] == 2**63 - 1


def test_query_parameters_are_rejected(client: Client) -> None:
    raw = json.dumps(event(client)).encode()
    signed = {"X-Service-Signature": signature_header(SECRET, raw)}
    assert post(client, f"{WEBHOOK}?a=1", raw, signed).status_code == 400


def test_an_unknown_type_is_ignored(client: Client) -> None:
    before = everything(client)
    for body in (
        {"type": "subscription.paused"},
        {"type": ""},
        {"type": "invoice.paid ", "id": 5, "account_id": None},
        {"type": "x" * 10_000, "created_at": "yesterday"},
        {"type": "customer.created", "account_id": "\x00"},
    ):
        assert result(send(client, event(client, plan="pro") | body)) == "ignored"
    assert everything(client) == before
    assert event_types(client) == []


def test_a_body_that_is_no_object_or_has_no_type_is_rejected(client: Client) -> None:
    for raw in (b"[]", b"null", b'"type"', b"5"):
        assert invalid_fields(send(client, raw)) == ["body"]
    for body in ({}, {"type": None}, {"type": 5}, {"type": ["invoice.paid"]}):
        assert invalid_fields(send(client, body)) == ["type"]


def test_invalid_fields_are_named(client: Client) -> None:
    before = everything(client)
    for field, value in (
        *(("id", value) for value in (..., None, 5, "", "x" * 256, "a\x00")),
        *(("created_at", value) for value in (..., None, 1_800_000_000, "", "2027-01-15")),
        *(("created_at", f"2027-01-15T08:00:00{zone}") for zone in ("", "+1", " Z", "+01:60")),
        *(("created_at", value) for value in ("2027-02-30T08:00:00Z", "2027-W02-1T08:00:00Z")),
        *(
            ("created_at", value)
            for value in ("0001-01-01T00:00:00+01:00", "２027-01-15T08:00:00Z")
        ),
        *(("account_id", value) for value in (..., None, 5, [], "", "acct_x", "a\x00", "x" * 999)),
        *(("plan", value) for value in ("gold", "", "Pro", 5, ["pro"], {}, "pro\x00")),
        *(("status", value) for value in (5, "a\x00", "x" * 51)),
        *(("current_period_end", value) for value in (1_800_000_000, "2027-01-15T08:00:00")),
        *(("invoice", value) for value in ([], "in_1")),
        ("colour", "green"),
    ):
        response = send(client, event(client, **{field: value}))
        assert invalid_fields(response) == [field], value
    response = send(client, event(client, "subscription.canceled", plan="gold"))
    assert invalid_fields(response) == ["plan"]
    assert everything(client) == before


def test_invalid_fields_of_an_invoice_are_named(client: Client) -> None:
    for field, value in (
        *(("id", value) for value in (..., None, 5, "")),
        *(("amount", value) for value in (..., None, "4900", 49.0, True)),
        *(("currency", value) for value in (..., None, 978, "", "a\x00")),
        ("status", True),
        *(("due_at", value) for value in ("tomorrow", 1_800_000_000)),
        ("colour", "green"),
    ):
        response = send(client, event(client, "invoice.paid", invoice=invoice(**{field: value})))
        assert invalid_fields(response) == [f"invoice.{field}"], value
    for none in (..., None):
        response = send(client, event(client, "invoice.failed", invoice=none))
        assert invalid_fields(response) == ["invoice"]
    assert ledger(client) == []


def test_an_unknown_account_is_rejected(client: Client) -> None:
    for type_ in TYPES:
        body = event(client, type_, account_id="acct_" + "0" * 26)
        assert invalid_fields(send(client, body)) == ["account_id"]


def test_an_event_with_an_unknown_plan_can_be_repeated(client: Client) -> None:
    for type_ in ("subscription.created", "invoice.paid"):
        body, before, types = (
            event(client, type_, plan="gold"),
            everything(client),
            event_types(client),
        )
        assert invalid_fields(send(client, body)) == ["plan"]
        assert everything(client) == before
        assert event_types(client) == types
        assert result(send(client, body | {"plan": "pro"})) == "applied"


def test_the_plan_follows_the_subscription(open_app: Flask) -> None:
    for type_, named, becomes in (
        ("subscription.created", "pro", "pro"),
        ("subscription.created", ..., "enterprise"),
        ("subscription.updated", "free", "free"),
        ("subscription.updated", None, "enterprise"),
        ("subscription.canceled", "pro", "free"),
        ("subscription.canceled", ..., "free"),
        ("invoice.paid", "pro", "enterprise"),
        ("invoice.failed", ..., "enterprise"),
    ):
        client = make_account(open_app, plan="enterprise")
        assert result(send(client, event(client, type_, plan=named))) == "applied"
        assert plan(client) == becomes, (type_, named)
        assert client.get("/v1/account").json["data"]["plan"] == becomes


def test_data_of_a_subscription_event(client: Client) -> None:
    end = "2027-02-15T09:00:00.5+01:00"
    send(client, event(client, plan="pro", status="past_due", current_period_end=end))
    [emitted] = events(client)
    assert emitted["type"] == "subscription.updated"
    assert emitted["account"]["id"] == client.account_id
    assert emitted["data"] == {
        "plan": "pro",
        "previous_plan": "free",
        "status": "past_due",
        "current_period_end": "2027-02-15T08:00:00.500Z",
    }


def test_data_of_an_invoice_event(client: Client) -> None:
    send(client, event(client, "invoice.failed", invoice=invoice(id="i" * 255, amount=-1)))
    [emitted] = events(client)
    assert emitted["type"] == "invoice.failed"
    assert emitted["data"] == {
        "id": "i" * 255,
        "amount": -1,
        "currency": "eur",
        "status": "open",
        "due_at": "2027-01-31T23:00:00.000Z",
    }


def test_missing_fields_are_null_and_the_status_defaults_to_the_type(client: Client) -> None:
    for number, type_ in enumerate(TYPES):
        for absent in (..., None):
            fields: dict[str, Any] = {"status": absent, "current_period_end": absent}
            if type_.startswith("invoice."):
                fields["invoice"] = invoice(status=absent, due_at=absent)
            at = f"2027-01-15T08:{number:02}:{0 if absent else 1:02}Z"
            send(client, event(client, type_, created_at=at, **fields))
            data = events(client)[-1]["data"]
            assert data["status"] == type_.split(".")[1]
            assert data.get("current_period_end") is None
            assert data.get("due_at") is None


def test_an_event_is_stored_raw(client: Client) -> None:
    body = event(client, plan="pro", created_at="2027-01-15T08:00:00.123456+00:00")
    raw = json.dumps(body, indent=3).replace('"pro"', '"\\u0070ro"').encode() + b" \n"
    before = clock.now()
    send(client, raw)
    [kept] = ledger(client)
    assert kept.body.encode() == raw
    assert (kept.source, kept.id, kept.type) == ("billing", body["id"], body["type"])
    assert clock.format_time(kept.created_at) == "2027-01-15T08:00:00.123Z"
    assert kept.created_at.microsecond == 123_000
    assert before <= kept.received_at <= clock.now()


def test_a_repeat_has_no_effect(client: Client) -> None:
    for number, type_ in enumerate(("subscription.updated", "invoice.paid"), 1):
        body = event(client, type_, plan="pro")
        assert result(send(client, body)) == "applied"
        before, emitted = everything(client), event_types(client)
        assert result(send(client, body)) == "repeated"
        assert result(send(client, body | {"plan": "enterprise", "status": "x"})) == "repeated"
        assert everything(client) == before
        assert event_types(client) == emitted
        assert len(emitted) == number


def test_events_of_other_accounts_are_not_visible(client: Client, stranger: Client) -> None:
    send(client, event(client, plan="pro"))
    assert (plan(stranger), ledger(stranger), events(stranger)) == ("free", [], [])


@pytest.mark.provokes(503)
def test_a_failed_commit_leaves_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    body, before = event(client, plan="pro"), everything(client)
    with monkeypatch.context() as patched:
        patched.setattr(db.session, "commit", fail)
        response = send(client, body)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) >= 1
    assert everything(client) == before
    assert event_types(client) == []
    assert result(send(client, body)) == "applied"
