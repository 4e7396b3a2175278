"""Several workers on one database: each delivery is in one hand at a time."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

from flask import Flask

from app.db.extensions import db
from app.deliveries import attempts, leases
from app.deliveries.attempts import Retry
from app.deliveries.types import ClaimedDelivery
from app.policy.deliveries import CLAIMED_FOR
from app.values import clock
from tests.deliveries.makers import queue
from tests.make import Client
from tests.make.webhooks import deliveries, make_webhook
from tests.webhooks.conftest import Later


def claim(app: Flask, run: str, numbers: dict[str, int]) -> list[ClaimedDelivery]:
    with app.app_context():
        found = leases.claim(run, numbers, clock.now())
        db.session.commit()
        return found


def quiet_webhook(customer: Client) -> dict[str, str]:
    return make_webhook(customer, events=["invoice.paid"])


def test_each_is_claimed_once_until_its_claim_ends(
    delivering: Flask, customer: Client, later: Later
) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 5, webhook)
    wanted = {webhook["id"]: 3}
    first, second, third = (claim(delivering, run, wanted) for run in ("one", "two", "three"))
    assert [len(first), len(second), len(third)] == [3, 2, 0]
    assert len({parcel.id for parcel in first + second}) == 5
    later(CLAIMED_FOR - timedelta(milliseconds=1))
    assert claim(delivering, "three", wanted) == []
    later(timedelta(milliseconds=1))
    again = claim(delivering, "three", wanted)
    assert [parcel.id for parcel in again] == [parcel.id for parcel in first]
    assert {parcel.attempt for parcel in again} == {1}, "an attempt without an end does not count"


def test_of_each_webhook_so_many_are_claimed_and_the_oldest_first(
    delivering: Flask, customer: Client
) -> None:
    webhooks = [quiet_webhook(customer) for _ in range(3)]
    queue(customer, 4, *webhooks)
    wanted = {webhooks[0]["id"]: 1, webhooks[1]["id"]: 3, "wh_unknown": 5}
    found = claim(delivering, "one", wanted)
    assert Counter(parcel.webhook_id for parcel in found) == {
        webhooks[0]["id"]: 1,
        webhooks[1]["id"]: 3,
    }
    for webhook in webhooks[:2]:
        mine = [parcel.id for parcel in found if parcel.webhook_id == webhook["id"]]
        oldest = [row["id"] for row in deliveries(customer, webhook["id"])]
        assert mine == oldest[: len(mine)]


def test_what_is_given_back_is_due_as_it_was(delivering: Flask, customer: Client) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 2, webhook)
    before = deliveries(customer)
    parcels = claim(delivering, "one", {webhook["id"]: 2})
    with delivering.app_context():
        leases.give_back("other", parcels)
        db.session.commit()
    assert {row["claim"] for row in deliveries(customer)} == {"one"}, "not theirs to give back"
    with delivering.app_context():
        leases.give_back("one", parcels)
        db.session.commit()
    assert deliveries(customer) == before


def test_who_comes_back_late_undoes_nothing(
    delivering: Flask, customer: Client, later: Later
) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 1, webhook)
    (late,) = claim(delivering, "late", {webhook["id"]: 1})
    later(CLAIMED_FOR)
    (parcel,) = claim(delivering, "next", {webhook["id"]: 1})
    with delivering.app_context():
        attempts.note_failed("late", [Retry(late, "pending", clock.now())])
        leases.cancel("late", [late])
        db.session.commit()
        (row,) = deliveries(customer)
        assert (row["state"], row["attempts"], row["claim"]) == ("pending", 0, "next")
        attempts.note_received([late])
        db.session.commit()
        attempts.note_failed("next", [Retry(parcel, "pending", clock.now())])
        db.session.commit()
    (row,) = deliveries(customer)
    assert (row["state"], row["due_at"]) == ("succeeded", None), "it was received, whoever says so"


def test_what_is_not_due_is_not_claimed(delivering: Flask, customer: Client, later: Later) -> None:
    webhook = quiet_webhook(customer)
    queue(customer, 1, webhook)
    later(timedelta(seconds=-1))
    assert claim(delivering, "one", {webhook["id"]: 1}) == []
    later(timedelta(seconds=1))
    assert len(claim(delivering, "one", {webhook["id"]: 1})) == 1


def test_webhooks_are_found_however_much_waits_for_one(
    delivering: Flask, customer: Client, stranger: Client
) -> None:
    mine = [quiet_webhook(customer) for _ in range(3)]
    theirs = quiet_webhook(stranger)
    idle = quiet_webhook(customer)
    queue(customer, 30, mine[0])
    queue(customer, 1, *mine[1:])
    queue(stranger, 1, theirs)
    with delivering.app_context():
        found, after = leases.find_due_webhooks()
        assert [row.webhook_id for row in found] == sorted(w["id"] for w in [*mine, theirs])
        assert after == ""
        assert idle["id"] not in {row.webhook_id for row in found}
        oldest = {row["webhook_id"]: row["due_at"] for row in reversed(deliveries(customer))}
        assert all(row.due_at == oldest[row.webhook_id] for row in found[:3])
        rest, _ = leases.find_due_webhooks(found[1].webhook_id)
        assert [row.webhook_id for row in rest] == [row.webhook_id for row in found[2:]]


def test_a_look_ends_after_so_many(
    delivering: Flask, customer: Client, monkeypatch: object
) -> None:
    webhooks = [quiet_webhook(customer) for _ in range(5)]
    queue(customer, 1, *webhooks)
    monkeypatch.setattr(leases, "_MOST_AT_ONCE", 2)  # type: ignore[attr-defined]
    after, found = "", []
    with delivering.app_context():
        for _ in range(3):
            some, after = leases.find_due_webhooks(after)
            found += [row.webhook_id for row in some]
    assert found == [webhook["id"] for webhook in webhooks]
    assert after == ""


def test_workers_at_once_share_what_is_due(delivering: Flask, customer: Client) -> None:
    webhooks = [quiet_webhook(customer) for _ in range(3)]
    queue(customer, 40, *webhooks)
    taken: list[str] = []

    def work(run: str) -> None:
        while found := claim(delivering, run, {webhook["id"]: 7 for webhook in webhooks}):
            taken.extend(parcel.id for parcel in found)

    workers = [threading.Thread(target=work, args=(f"run {n}",)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(taken) == sorted(row["id"] for row in deliveries(customer))
