"""Several workers on one database: each delivery is claimed by one at a time."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.policy.deliveries import LEASE
from app.values import clock
from app.webhooks.deliveries import cancellation, leases, outcomes
from app.webhooks.deliveries.outcomes import Retry
from app.webhooks.deliveries.types import ClaimedDelivery
from tests.make import Client
from tests.make.webhooks import deliveries, make_webhook
from tests.webhooks.conftest import Later
from tests.webhooks.deliveries.makers import queue

pytestmark = pytest.mark.both


def claim(app: Flask, run: str, numbers: dict[str, int]) -> list[ClaimedDelivery]:
    with app.app_context(), transaction():
        return leases.claim_deliveries(run, numbers, clock.now())


def quiet_webhook(customer: Client) -> dict[str, str]:
    return make_webhook(customer, events=["invoice.paid"])


def test_a_delivery_is_claimed_once_until_its_lease_expires(
    delivering: Flask, customer: Client, later: Later
) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 5, webhook)
    wanted = {webhook["id"]: 3}
    first, second, third = (claim(delivering, run, wanted) for run in ("one", "two", "three"))
    assert [len(first), len(second), len(third)] == [3, 2, 0]
    assert len({delivery.id for delivery in first + second}) == 5
    later(LEASE - timedelta(milliseconds=1))
    assert claim(delivering, "three", wanted) == []
    later(timedelta(milliseconds=1))
    again = claim(delivering, "three", wanted)
    assert [delivery.id for delivery in again] == [delivery.id for delivery in first]
    assert {delivery.attempt for delivery in again} == {1}, (
        "an attempt without an outcome does not count"
    )


def test_claims_are_limited_for_each_webhook_and_the_oldest_come_first(
    delivering: Flask, customer: Client
) -> None:
    webhooks = [quiet_webhook(customer) for _ in range(3)]
    queue(customer, 4, *webhooks)
    wanted = {webhooks[0]["id"]: 1, webhooks[1]["id"]: 3, "wh_unknown": 5}
    found = claim(delivering, "one", wanted)
    assert Counter(delivery.webhook_id for delivery in found) == {
        webhooks[0]["id"]: 1,
        webhooks[1]["id"]: 3,
    }
    for webhook in webhooks[:2]:
        mine = [delivery.id for delivery in found if delivery.webhook_id == webhook["id"]]
        oldest = [row["id"] for row in deliveries(customer, webhook["id"])]
        assert mine == oldest[: len(mine)]


def test_a_released_delivery_is_due_as_before(delivering: Flask, customer: Client) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 2, webhook)
    before = deliveries(customer)
    claimed = claim(delivering, "one", {webhook["id"]: 2})
    with delivering.app_context(), transaction():
        leases.release_deliveries("other", claimed)
    assert {row["claim"] for row in deliveries(customer)} == {"one"}, "claimed by another run"
    with delivering.app_context(), transaction():
        leases.release_deliveries("one", claimed)
    assert deliveries(customer) == before


def test_a_run_whose_lease_expired_overwrites_nothing(
    delivering: Flask, customer: Client, later: Later
) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 1, webhook)
    (late,) = claim(delivering, "late", {webhook["id"]: 1})
    later(LEASE)
    (delivery,) = claim(delivering, "next", {webhook["id"]: 1})
    with delivering.app_context(), transaction():
        outcomes.mark_failed("late", [Retry(late, "pending", clock.now())])
        cancellation.cancel_claimed("late", [late])
        db.session.commit()
        (row,) = deliveries(customer)
        assert (row["state"], row["attempts"], row["claim"]) == ("pending", 0, "next")
        outcomes.mark_succeeded([late])
        db.session.commit()
        outcomes.mark_failed("next", [Retry(delivery, "pending", clock.now())])
    (row,) = deliveries(customer)
    assert (row["state"], row["due_at"]) == ("succeeded", None), (
        "a success counts whichever run reports it"
    )


def test_webhooks_are_found_however_many_deliveries_one_has(
    delivering: Flask, customer: Client, stranger: Client
) -> None:
    mine = [quiet_webhook(customer) for _ in range(3)]
    theirs = quiet_webhook(stranger)
    idle = quiet_webhook(customer)
    queue(customer, 30, mine[0])
    queue(customer, 1, *mine[1:])
    queue(stranger, 1, theirs)
    with delivering.app_context():
        found, after = leases.find_pending_webhooks()
        assert [row.webhook_id for row in found] == sorted(w["id"] for w in [*mine, theirs])
        assert after == ""
        assert idle["id"] not in {row.webhook_id for row in found}
        oldest = {row["webhook_id"]: row["due_at"] for row in reversed(deliveries(customer))}
        assert all(row.due_at == oldest[row.webhook_id] for row in found[:3])
        rest, _ = leases.find_pending_webhooks(found[1].webhook_id)
        assert [row.webhook_id for row in rest] == [row.webhook_id for row in found[2:]]


def test_concurrent_workers_share_what_is_due(delivering: Flask, customer: Client) -> None:
    webhooks = [quiet_webhook(customer) for _ in range(3)]
    queue(customer, 40, *webhooks)
    claimed_ids: list[str] = []

    def work(run: str) -> None:
        while found := claim(delivering, run, {webhook["id"]: 7 for webhook in webhooks}):
            claimed_ids.extend(delivery.id for delivery in found)

    workers = [threading.Thread(target=work, args=(f"run {n}",)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(claimed_ids) == sorted(row["id"] for row in deliveries(customer))
