"""Events that come at the same moment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.billing.sending import (
    NOW,
    event,
    ledger,
    plan,
    result,
    send,
    send_stripe,
    stripe_event,
    subscription,
)
from tests.make import Client, event_types, events, make_project, square, together


def _own(client: Client) -> TestResponse:
    return send(client, event(client, plan="pro", id=f"once-{client.account_id}"))


def _of_stripe(client: Client) -> TestResponse:
    body = subscription(client.account_id, "pro", customer=f"cus_{client.account_id}")
    id_ = f"once-{client.account_id}"
    return send_stripe(client, stripe_event("customer.subscription.updated", body, id=id_))


@pytest.mark.parametrize("number", range(2, 9))
@pytest.mark.parametrize("call", [_own, _of_stripe])
def test_one_event_many_times_at_once_has_one_effect(
    client: Client, call: Any, number: int
) -> None:
    answers = together(*[lambda: call(client)] * number)
    assert Counter(map(result, answers)) == {"applied": 1, "repeated": number - 1}
    assert plan(client) == "pro"
    assert event_types(client) == ["subscription.updated"]
    assert len(ledger(client)) == 1


@pytest.mark.parametrize("turn", range(5))
def test_different_events_at_once_end_in_the_plan_of_the_newest(client: Client, turn: int) -> None:
    plans = ["free", "enterprise", "free", "enterprise", "free", "enterprise", "free", "pro"]
    bodies = [
        event(client, plan=named, created_at=f"2027-01-15T08:00:0{second}Z")
        for second, named in enumerate(plans)
    ]
    calls = [lambda body=body: send(client, body) for body in bodies]
    answers = together(*calls[turn:], *calls[:turn])
    assert set(map(result, answers)) <= {"applied", "ignored"}
    assert plan(client) == "pro"
    told = events(client)
    assert told[-1]["data"]["plan"] == "pro"
    assert len(told) == Counter(map(result, answers))["applied"]
    assert len(ledger(client)) == len(bodies)


def test_the_first_event_of_an_account_may_be_two(client: Client) -> None:
    """Neither has a row to wait at but the account's own."""
    old = event(client, plan="enterprise", created_at="2027-01-15T08:00:00Z")
    new = event(client, plan="pro", created_at="2027-01-15T08:00:01Z")
    together(*[lambda body=body: result(send(client, body)) for body in (old, new)])
    assert plan(client) == "pro"


def test_one_id_for_two_accounts_at_once_is_taken_for_one(client: Client, stranger: Client) -> None:
    """An id belongs to one event, whatever else is said the second time."""
    bodies = [event(one, plan="pro", id=f"two-{client.account_id}") for one in (client, stranger)]
    answers = together(*[lambda body=body: send(client, body) for body in bodies])
    assert Counter(map(result, answers)) == {"applied": 1, "repeated": 1}
    assert sorted([plan(client), plan(stranger)]) == ["free", "pro"]


def test_one_customer_of_two_accounts_at_once_ends_with_the_newest(
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


def test_projects_are_changed_while_the_plan_is(client: Client) -> None:
    """None waits for the other in a circle."""
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
