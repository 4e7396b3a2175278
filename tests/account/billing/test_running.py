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
from tests.account.billing.sending import (
    STRIPE_SECRET,
    STRIPE_WEBHOOK,
    ledger,
    plan,
    stripe_event,
    stripe_invoice,
    subscription,
)
from tests.api.server import Server, gunicorn
from tests.make import Client, event_types, make_account, together

SHUFFLES = int(os.environ.get("CANOPY_TEST_SHUFFLES", "10"))
SignedMessage = tuple[str, bytes, dict[str, str]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest, scratch: Path, valkey_url: str) -> Iterator[Server]:
    folder = scratch / f"billing-{request.param}"
    folder.mkdir()
    environ = {
        "REDIS_URL": f"{valkey_url}?db=10",
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


def stripe_story(client: Client) -> list[SignedMessage]:
    """Created and upgraded in one second, invoice failed, canceled."""
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


@pytest.mark.slow
def test_concurrent_repeated_and_shuffled_events_lead_to_the_same_state(server: Server) -> None:
    seed = random.randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")  # shown when this fails
    chance = random.Random(seed)
    for _ in range(SHUFFLES):
        client = make_account(server.client.app, plan="free")
        messages = stripe_story(client)
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
