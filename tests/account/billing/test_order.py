"""Events in any order lead to the same plan, and older ones do not change it back."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from flask import Flask

from tests.account.billing.sending import (
    NOW,
    event,
    everything,
    invalid_fields,
    invoice,
    ledger,
    plan,
    send,
    send_stripe,
    stripe_event,
    subscription,
)
from tests.make import Client, event_types, events, make_account
from tests.make.signed import result


def _at(second: int, fraction: str = "") -> str:
    return f"2027-01-15T08:00:{second:02}{fraction}Z"


def _send_all(client: Client, *bodies: dict[str, Any]) -> list[str]:
    return [result(send(client, body)) for body in bodies]


@pytest.mark.both
def test_an_older_event_is_stored_and_ignored(client: Client) -> None:
    new = event(client, plan="pro", created_at=_at(2))
    old = event(client, plan="enterprise", created_at=_at(1))
    assert _send_all(client, new, old, old) == ["applied", "ignored", "repeated"]
    assert plan(client) == "pro"
    assert {row.id for row in ledger(client)} == {new["id"], old["id"]}
    assert event_types(client) == ["subscription.updated"]


def test_an_older_event_with_an_unknown_plan_is_rejected_too(client: Client) -> None:
    _send_all(client, event(client, plan="pro", created_at=_at(2)))
    response = send(client, event(client, plan="gold", created_at=_at(1)))
    assert invalid_fields(response) == ["plan"]
    assert len(ledger(client)) == 1


def test_a_cancellation_is_not_undone_by_older_events(client: Client) -> None:
    _send_all(
        client,
        event(client, "subscription.created", plan="pro", created_at=_at(1)),
        event(client, "subscription.canceled", created_at=_at(3)),
        event(client, plan="enterprise", created_at=_at(2)),
    )
    assert plan(client) == "free"


def test_subscribing_again_after_a_cancellation(client: Client) -> None:
    _send_all(
        client,
        event(client, "subscription.canceled", created_at=_at(1)),
        event(client, "subscription.created", plan="pro", created_at=_at(2)),
    )
    assert plan(client) == "pro"


def test_an_unchanged_plan_is_reported_and_not_set(client: Client) -> None:
    before = everything(client)[0]
    assert _send_all(client, event(client, plan="free")) == ["applied"]
    assert everything(client)[0] == before
    assert events(client)[0]["data"]["previous_plan"] == "free"


def test_times_are_compared_across_time_zones(client: Client) -> None:
    early = event(client, plan="enterprise", created_at="2027-01-15T10:00:00+03:00")
    late = event(client, plan="pro", created_at="2027-01-15T08:00:00-00:00")
    assert _send_all(client, late, early) == ["applied", "ignored"]


@pytest.mark.both
def test_fractions_of_a_millisecond_count(client: Client) -> None:
    late = event(client, id="a", plan="pro", created_at=_at(1, ".000002"))
    early = event(client, id="b", plan="enterprise", created_at=_at(1, ".000001"))
    ids = {"a": f"a{client.account_id}", "b": f"b{client.account_id}"}
    emitted = _send_all(client, *({**body, "id": ids[body["id"]]} for body in (late, early)))
    assert emitted == ["applied", "ignored"]


def test_an_event_without_a_plan_does_not_hide_the_plan_of_an_older_one(client: Client) -> None:
    """In the order of the events, the account would be on pro too."""
    silent = event(client, status="past_due", created_at=_at(2))
    named = event(client, "subscription.created", plan="pro", created_at=_at(1))
    assert _send_all(client, silent, named) == ["applied", "applied"]
    assert plan(client) == "pro"
    assert [(e["data"]["previous_plan"], e["data"]["plan"]) for e in events(client)] == [
        ("free", "free"),
        ("free", "pro"),
    ]


def test_an_older_event_without_a_plan_is_not_reported(client: Client) -> None:
    new = event(client, status="active", created_at=_at(3))
    old = event(client, status="past_due", created_at=_at(2))
    named = event(client, plan="pro", created_at=_at(1))
    older = event(client, status="past_due", created_at=_at(2))
    assert _send_all(client, new, old, named, older) == ["applied", "ignored", "applied", "ignored"]
    assert len(events(client)) == 2


def test_invoices_are_reported_in_any_order(client: Client) -> None:
    bodies = [
        event(client, "invoice.paid", created_at=_at(second), invoice=invoice(id=f"in_{second}"))
        for second in (3, 1, 2)
    ]
    _send_all(client, event(client, plan="pro", created_at=_at(9)))
    assert _send_all(client, *bodies) == ["applied"] * 3
    assert [e["data"]["id"] for e in events(client)[1:]] == ["in_3", "in_1", "in_2"]


def test_at_the_same_time_the_type_decides(open_app: Flask) -> None:
    """Stripe's times are whole seconds: a subscription is often created and updated in one."""
    types = ("subscription.created", "subscription.updated", "subscription.canceled")
    for pair, turn in itertools.product(itertools.combinations(types, 2), (1, -1)):
        client = make_account(open_app, plan="enterprise")
        first, second = (event(client, type_, plan="enterprise") for type_ in pair)
        second |= {"plan": "pro", "id": "A" + second["id"]}  # before the other, if ids decided
        _send_all(client, *[first, second][::turn])
        assert plan(client) == ("free" if "canceled" in pair[1] else "pro"), pair


@pytest.mark.both
def test_at_the_same_time_and_type_the_id_decides(open_app: Flask) -> None:
    for turn in (1, -1):
        client = make_account(open_app, plan="free")
        ids = [f"{letter}-{client.account_id}" for letter in ("A", "a", "é", "\U0001f332")]
        plans = ("free", "enterprise", "free", "pro")
        pairs = zip(ids, plans, strict=True)
        bodies = [event(client, id=id_, plan=named) for id_, named in pairs]
        _send_all(client, *bodies[::turn])
        assert plan(client) == "pro"


def test_events_of_both_systems_share_one_order(open_app: Flask) -> None:
    """Even with the same id, which each of them may use."""
    for turn in (1, -1):
        client = make_account(open_app, plan="free")
        own = event(client, plan="enterprise")
        about = subscription(client.account_id, "pro")
        type_ = "customer.subscription.updated"
        other = stripe_event(type_, about, id=own["id"], created=NOW)
        calls = [lambda c=client, b=own: send(c, b), lambda c=client, b=other: send_stripe(c, b)]
        for call in calls[::turn]:
            result(call())
        assert plan(client) == "pro"
        assert len(ledger(client)) == 2


def _story(client: Client) -> list[dict[str, Any]]:
    """Created, upgraded, unpaid, cancelled, with ties and events without a plan."""
    return [
        event(client, "subscription.created", status="incomplete", created_at=_at(0)),
        event(client, "subscription.created", plan="pro", created_at=_at(1)),
        event(client, plan="pro", created_at=_at(1)),
        event(client, plan="enterprise", created_at=_at(2)),
        event(client, "invoice.failed", created_at=_at(3)),
        event(client, status="past_due", created_at=_at(3)),
        event(client, "subscription.canceled", created_at=_at(4)),
        event(client, plan="enterprise", created_at=_at(4)),
        event(client, status="unpaid", created_at=_at(5)),
    ]


@pytest.mark.slow
@pytest.mark.both
def test_shuffled_events_lead_to_the_same_state(open_app: Flask, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(5):
        client = make_account(open_app, plan=chance.choice(["free", "pro", "enterprise"]))
        bodies = _story(client)
        arriving = bodies + chance.sample(bodies, 3)  # some come twice
        if number:
            chance.shuffle(arriving)
        results = [result(send(client, body)) for body in arriving]
        order = [bodies.index(body) for body in arriving]
        assert plan(client) == "free", order
        assert results.count("repeated") == 3, order
        assert len(ledger(client)) == len(bodies), order
        emitted = events(client)
        assert len(emitted) == results.count("applied"), order
        changes = [e["data"] for e in emitted if e["type"].startswith("subscription.")]
        for one, next_one in itertools.pairwise(changes):
            assert next_one["previous_plan"] == one["plan"], order
        assert changes[-1]["plan"] == "free", order
