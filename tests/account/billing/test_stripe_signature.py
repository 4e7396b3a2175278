"""The header Stripe-Signature, compared with Stripe's own library."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from unittest import mock

import stripe
from hypothesis import example, given
from hypothesis import strategies as st

from app.account.billing.stripe import is_signed
from app.security.signatures import sign_body
from app.values import clock
from tests.account.billing.sending import (
    NOW,
    STRIPE_SECRET,
    STRIPE_WEBHOOK,
    everything,
    plan,
    send_stripe,
    stripe_event,
    subscription,
)
from tests.make import Client
from tests.make.properties import examples
from tests.make.signed import post, result

BODY = '{"id": "evt_1", "name": "Żółw \U0001f332"}'


def _signature(at: int, body: str = BODY, secret: str = STRIPE_SECRET) -> str:
    header = stripe.WebhookSignature.generate_signature_header(body, secret, at)
    return header.partition("v1=")[2]


def _stripe_takes(header: str | None, body: str, now: float) -> bool:
    """Whether Stripe's own library accepts a signature at this time (epoch seconds)."""
    with mock.patch("stripe._webhook.time", SimpleNamespace(time=lambda: now)):
        try:
            stripe.Webhook.construct_event(body, header, STRIPE_SECRET, 300)
        except stripe.SignatureVerificationError:
            return False
    return True


def _we_take(header: str | None, body: str, now: float) -> bool:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=now)
    return is_signed(STRIPE_SECRET, body.encode(), header, moment)


GOOD = _signature(NOW)
PARTS = (
    *(f"t={NOW}", f"t={NOW - 300}", f"t={NOW - 301}", "t=", "t", "t=x", f" t={NOW}", f"t= {NOW} "),
    *(f"t=+{NOW}", f"t={NOW}=1", f"T={NOW}", "t=1_800_000_000", "t=1e9", "t=-1", f"t={'9' * 4400}"),
    *(f"v1={GOOD}", f"v1={GOOD[:-1]}", f"v1={GOOD.upper()}", f"v1={_signature(NOW - 300)}"),
    *(f"v1={_signature(NOW - 301)}", f"v1={_signature(NOW, secret='another')}", f"v1={GOOD}=="),
    *(
        f"v0={GOOD}",
        f" v1={GOOD}",
        "v1=",
        "v1",
        f"v2={GOOD}",
        f"v1 ={GOOD}",
        "",
        "=",
        "a=b",
    ),
)


@given(st.lists(st.sampled_from(PARTS), max_size=5).map(",".join))
@example(f"t={NOW},v1=0,v1={GOOD}")
@example(f"t={NOW},v1={GOOD},v0=0")
@example(f"v1={GOOD},t={NOW}")
@example(f"t={NOW},t=x,v1={GOOD}")
@example(f"t=x,t={NOW},v1={GOOD}")
@example(f"t={NOW},v1,v1={GOOD}")
@example(f"t={NOW}")
@example("")
@examples(300)
def test_headers_are_accepted_as_stripe_does(header: str) -> None:
    assert _we_take(header, BODY, NOW) == _stripe_takes(header, BODY, NOW), header


def test_a_signature_is_valid_for_five_minutes_either_way() -> None:
    header = f"t={NOW},v1={GOOD}"
    for seconds, is_valid in ((300, True), (300.001, False), (0, True), (86_400, False)):
        assert _we_take(header, BODY, NOW + seconds) is is_valid
        assert _stripe_takes(header, BODY, NOW + seconds) is is_valid
    for seconds, is_valid in ((-300, True), (-300.001, False)):
        assert _we_take(header, BODY, NOW + seconds) is is_valid  # Stripe's library takes both


def test_an_old_signature_is_401(client: Client) -> None:
    body = stripe_event("customer.subscription.updated", subscription(client.account_id))
    before = everything(client)
    assert send_stripe(client, body, at=int(clock.now().timestamp()) - 301).status_code == 401
    assert everything(client) == before


def test_one_valid_signature_among_several_is_enough(client: Client) -> None:
    at = int(clock.now().timestamp())
    body = json.dumps(
        stripe_event("customer.subscription.updated", subscription(client.account_id))
    )
    rolled = f"v1={_signature(at, body, 'the old secret')},v1={_signature(at, body)}"
    headers = {"Stripe-Signature": f"t={at},{rolled},v0=6ffbb59b"}
    assert result(post(client, STRIPE_WEBHOOK, body.encode(), headers)) == "applied"
    assert plan(client) == "pro"


def test_the_signature_is_checked_before_the_json(client: Client) -> None:
    at = int(clock.now().timestamp())
    for raw, status in ((b"{", 400), (b"\xff", 400), (b"", 422), (b"null", 422)):
        response = post(client, STRIPE_WEBHOOK, raw, {"Stripe-Signature": f"t={at},v1={GOOD}"})
        assert response.status_code == 401
        assert "Stripe-Signature" in response.headers["WWW-Authenticate"]
        right = {"Stripe-Signature": f"t={at},v1={sign_body(STRIPE_SECRET, b'%d.%b' % (at, raw))}"}
        assert post(client, STRIPE_WEBHOOK, raw, right).status_code == status
    body = json.dumps(stripe_event("customer.created", {})).encode()
    for headers in ({}, {"Stripe-Signature": "t=1,v1=é"}):
        assert post(client, STRIPE_WEBHOOK, body, headers).status_code == 401
