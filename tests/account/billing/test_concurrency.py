"""Concurrent events."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.account.billing.sending import (
    NOW,
    event,
    ledger,
    plan,
    send,
    send_stripe,
    stripe_event,
    subscription,
)
from tests.make import Client, event_types, events, make_project, square, together
from tests.make.signed import result

pytestmark = pytest.mark.both


def _own(client: Client) -> TestResponse:
    return send(client, event(client, plan="pro", id=f"once-{client.account_id}"))


def _of_stripe(client: Client) -> TestResponse:
    body = subscription(client.account_id, "pro", customer=f"cus_{client.account_id}")
    id_ = f"once-{client.account_id}"
    return send_stripe(client, stripe_event("customer.subscription.updated", body, id=id_))


@pytest.mark.parametrize("call", [_own, _of_stripe])
def test_concurrent_repeats_of_an_event_have_one_effect(client: Client, call: Any) -> None:
    responses = together(*[lambda: call(client)] * 8)
    assert Counter(map(result, responses)) == {"applied": 1, "repeated": 7}
    assert plan(client) == "pro"
    assert event_types(client) == ["subscription.updated"]
    assert len(ledger(client)) == 1


def test_concurrent_events_end_with_the_newest_plan(client: Client) -> None:
    plans = ["free", "enterprise", "free", "enterprise", "free", "enterprise", "free", "pro"]
    bodies = [
        event(client, plan=named, created_at=f"2027-01-15T08:00:0{second}Z")
        for second, named in enumerate(plans)
    ]
    calls = [lambda body=body: send(client, body) for body in bodies]
    responses = together(*calls[::-1])
    assert set(map(result, responses)) <= {"applied", "ignored"}
    assert plan(client) == "pro"
    emitted = events(client)
    assert emitted[-1]["data"]["plan"] == "pro"
    assert len(emitted) == Counter(map(result, responses))["applied"]
    assert len(ledger(client)) == len(bodies)


def test_concurrent_first_events_of_an_account(client: Client) -> None:
    """There is no subscription row to lock yet, only the account's."""
    old = event(client, plan="enterprise", created_at="2027-01-15T08:00:00Z")
    new = event(client, plan="pro", created_at="2027-01-15T08:00:01Z")
    together(*[lambda body=body: result(send(client, body)) for body in (old, new)])
    assert plan(client) == "pro"


def test_a_concurrent_id_for_two_accounts_is_applied_to_one(
    client: Client, stranger: Client
) -> None:
    """An id belongs to one event, whatever the second one contains."""
    bodies = [event(one, plan="pro", id=f"two-{client.account_id}") for one in (client, stranger)]
    responses = together(*[lambda body=body: send(client, body) for body in bodies])
    assert Counter(map(result, responses)) == {"applied": 1, "repeated": 1}
    assert sorted([plan(client), plan(stranger)]) == ["free", "pro"]


def test_a_concurrent_customer_of_two_accounts_ends_with_the_newest(
    client: Client, stranger: Client
) -> None:
    customer = f"cus_{client.account_id}"
    bodies = [
        stripe_event(
            "customer.subscription.updated",
            subscription(one.account_id, "pro", customer=customer),
            created=NOW + second,
        )
        for second, one in enumerate((client, stranger))
    ]
    together(*[lambda body=body: result(send_stripe(client, body)) for body in bodies])
    last = subscription(None, "enterprise", customer=customer)
    result(
        send_stripe(client, stripe_event("customer.subscription.updated", last, created=NOW + 5))
    )
    assert (plan(client), plan(stranger)) == ("pro", "enterprise")


def test_projects_can_be_changed_while_the_plan_changes(client: Client) -> None:
    """There is no deadlock."""
    projects = [make_project(client) for _ in range(4)]
    changes = [
        lambda p=p: client.put(f"/v1/projects/{p['id']}", json={"geometry": square()}).status_code
        for p in projects
    ]
    bodies = [
        event(client, plan=named, created_at=f"2027-01-15T08:00:0{second}Z")
        for second, named in enumerate(["pro", "enterprise", "free", "enterprise"])
    ]
    billing = [lambda body=body: send(client, body).status_code for body in bodies]
    assert set(together(*changes, *billing)) == {200}
    assert plan(client) == "enterprise"
