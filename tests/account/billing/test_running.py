"""The events of a subscription, sent to a running service by several concurrent senders."""

from __future__ import annotations

import http.client
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import stripe

from app.db.connections import close_all
from app.security.signatures import signature_header
from tests.account.billing.sending import (
    SECRET,
    STRIPE_SECRET,
    STRIPE_WEBHOOK,
    WEBHOOK,
    event,
    ledger,
    plan,
    stripe_event,
    stripe_invoice,
    subscription,
)
from tests.api.server import Server, gunicorn
from tests.make import Client, event_types, make_account, together

# Of each route; 100 take a minute more.
SHUFFLES = int(os.environ.get("CANOPY_TEST_SHUFFLES", "25"))
SignedMessage = tuple[str, bytes, dict[str, str]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest, scratch: Path, valkey_url: str) -> Iterator[Server]:
    folder = scratch / f"billing-{request.param}"
    folder.mkdir()
    environ = {
        "REDIS_URL": f"{valkey_url}?db=10",
        "BILLING_WEBHOOK_SECRET": SECRET,
        "PAYMENT_PROVIDER_WEBHOOK_SECRET": STRIPE_SECRET,
        "WEB_WORKERS": "2",
        "LOG_LEVEL": "error",
    }
    if request.param == "postgresql":
        environ["DATABASE_URL"] = request.getfixturevalue("postgres").create_database(
            has_tables=True
        )
    with gunicorn(folder, **environ) as made:
        yield made
        with made.client.app.app_context():
            close_all()


def own_story(client: Client) -> list[SignedMessage]:
    """Created, upgraded, invoice failed, canceled."""
    messages = [
        event(client, "subscription.created", plan="pro", created_at="2027-01-01T00:00:00Z"),
        event(client, plan="enterprise", created_at="2027-02-01T00:00:00Z"),
        event(client, "invoice.failed", created_at="2027-03-01T00:00:00Z"),
        event(client, "subscription.canceled", created_at="2027-03-15T00:00:00Z"),
    ]
    bodies = [json.dumps(body).encode() for body in messages]
    return [
        (WEBHOOK, raw, {"X-Service-Signature": signature_header(SECRET, raw)}) for raw in bodies
    ]


def stripe_story(client: Client) -> list[SignedMessage]:
    """The same events from Stripe, the first two in one second."""
    account_id = client.account_id
    messages: list[dict[str, Any]] = [
        stripe_event("customer.subscription.created", subscription(account_id, "pro"), created=10),
        stripe_event(
            "customer.subscription.updated", subscription(account_id, "enterprise"), created=10
        ),
        stripe_event(
            "invoice.payment_failed",
            stripe_invoice(metadata={"account_id": account_id}),
            created=20,
        ),
        stripe_event(
            "customer.subscription.deleted",
            subscription(account_id, "enterprise", status="canceled"),
            created=30,
        ),
    ]
    bodies = [json.dumps(body) for body in messages]
    sign = stripe.WebhookSignature.generate_signature_header
    return [
        (STRIPE_WEBHOOK, raw.encode(), {"Stripe-Signature": sign(raw, STRIPE_SECRET)})
        for raw in bodies
    ]


def send(port: int, messages: list[SignedMessage]) -> list[tuple[int, str]]:
    """Send events one after the other. Returns status and result of each."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    responses = []
    for path, raw, headers in messages:
        sent = headers | {"Content-Type": "application/json"}
        connection.request("POST", path, body=raw, headers=sent)
        response = connection.getresponse()
        body = json.loads(response.read())
        responses.append((response.status, body.get("data", {}).get("result", "")))
    connection.close()
    return responses


@pytest.mark.parametrize("story", [own_story, stripe_story])
@pytest.mark.trial
def test_in_order_the_plan_follows(server: Server, story: Any) -> None:
    client = make_account(server.client.app, plan="free")
    plans = []
    for messages in story(client):
        assert send(server.port, [messages]) == [(200, "applied")]
        plans.append(plan(client))
    assert plans == ["pro", "enterprise", "enterprise", "free"]
    assert event_types(client) == [
        "subscription.created",
        "subscription.updated",
        "invoice.failed",
        "subscription.canceled",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("story", [pytest.param(own_story, marks=pytest.mark.trial), stripe_story])
def test_concurrent_repeated_and_shuffled_events_lead_to_the_same_state(
    server: Server, story: Any
) -> None:
    seed = random.randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")  # shown when this fails
    chance = random.Random(seed)
    for _ in range(SHUFFLES):
        client = make_account(server.client.app, plan="free")
        messages = story(client)
        senders = [chance.sample(messages, len(messages)) for _ in range(3)]
        responses = together(*(lambda mine=mine: send(server.port, mine) for mine in senders))
        results = [result for sender in responses for _, result in sender]
        assert {status for sender in responses for status, _ in sender} == {200}
        assert results.count("repeated") == 2 * len(messages)
        assert plan(client) == "free"
        assert len(ledger(client)) == len(messages)
        emitted = event_types(client)
        assert len(emitted) == results.count("applied") == len(set(emitted))
        assert "subscription.canceled" in emitted
