"""Receivers take turns, and those that hang do not delay the others."""

from __future__ import annotations

import random
from collections import Counter
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.policy.deliveries import (
    FAILING_AFTER,
    FOR_FAILING,
    FOR_SLOW,
    FOR_UNKNOWN,
    PER_ACCOUNT,
    PER_WEBHOOK,
    QUEUED,
    QUEUED_OF_OTHERS,
    SENDERS,
    SLOW_SECONDS,
    WEBHOOKS_PER_ACCOUNT,
)
from app.webhooks.deliveries import webhook_queue
from app.webhooks.deliveries.due import ClaimBudget, DueScan
from app.webhooks.deliveries.fair_scheduler import FairScheduler
from app.webhooks.deliveries.types import ClaimedDelivery
from app.webhooks.deliveries.webhook_queue import ReceiverHealth
from tests.make.properties import examples
from tests.webhooks.deliveries.makers import MOMENT, claimed, outcome, pending


def fill(
    scheduler: FairScheduler, webhook_id: str, number: int, **columns: object
) -> list[ClaimedDelivery]:
    """Enqueue this number of deliveries for a webhook."""
    queue = scheduler.refresh(pending(webhook_id, **columns), MOMENT)
    assert queue is not None
    made = [claimed(webhook_id, account_id=queue.account_id) for _ in range(number)]
    scheduler.enqueue(made)
    return made


def begun(scheduler: FairScheduler) -> list[ClaimedDelivery]:
    return [delivery for _, delivery in scheduler.begin_next()]


def test_requests_in_flight_to_one_webhook_are_limited() -> None:
    scheduler = FairScheduler()
    made = fill(scheduler, "a", 100)
    assert begun(scheduler) == made[:PER_WEBHOOK]
    assert begun(scheduler) == []
    scheduler.on_outcome(outcome(made[0]))
    assert begun(scheduler) == [made[PER_WEBHOOK]]


def test_webhooks_take_turns() -> None:
    scheduler = FairScheduler()
    for webhook_id in "abc":
        fill(scheduler, webhook_id, 50)
    found = [delivery.webhook_id for delivery in begun(scheduler)]
    assert found[:6] == ["a", "b", "c", "a", "b", "c"]
    assert set(Counter(found).values()) == {PER_WEBHOOK}


def test_a_free_thread_is_for_the_account_with_the_fewest_requests() -> None:
    scheduler = FairScheduler()
    for number in range(WEBHOOKS_PER_ACCOUNT):
        fill(scheduler, f"a{number}", 2, account_id="one")
        fill(scheduler, f"b{number}", 2, account_id="two")
    busy = begun(scheduler)
    assert len(busy) == SENDERS
    fill(scheduler, "single", 5)
    for sent in busy[:5]:
        scheduler.on_outcome(outcome(sent))
    assert {sent.webhook_id for sent in begun(scheduler)} == {"single"}


def test_requests_in_flight_for_one_account_are_limited() -> None:
    scheduler = FairScheduler()
    for webhook_id in "abcd":
        fill(scheduler, webhook_id, 50, account_id="one")
    fill(scheduler, "e", 50, account_id="other")
    found = begun(scheduler)
    accounts = Counter(delivery.account_id for delivery in found)
    assert accounts == {"one": PER_ACCOUNT, "other": PER_WEBHOOK}
    mine = next(delivery for delivery in found if delivery.account_id == "one")
    scheduler.on_outcome(outcome(mine))
    assert [delivery.account_id for delivery in begun(scheduler)] == ["one"]


@pytest.mark.parametrize(
    ("columns", "limit"),
    [
        ({"last_success_at": None}, FOR_UNKNOWN),
        ({"consecutive_failures": 1}, FOR_UNKNOWN),
        ({"consecutive_failures": FAILING_AFTER}, FOR_FAILING),
    ],
)
def test_requests_to_unknown_and_failing_receivers_are_limited(
    columns: dict[str, object], limit: int
) -> None:
    scheduler = FairScheduler()
    for number in range(SENDERS):
        fill(scheduler, f"unsure {number}", 2, **columns)
    assert len(begun(scheduler)) == limit
    fill(scheduler, "healthy", 50)
    found = Counter(delivery.webhook_id for delivery in begun(scheduler))
    assert found == {"healthy": PER_WEBHOOK}, "healthy receivers do not wait for them"


def test_healthy_receivers_leave_turns_to_the_others() -> None:
    scheduler = FairScheduler()
    for number in range(SENDERS):
        fill(scheduler, f"healthy {number}", 50)
    fill(scheduler, "new", 2, last_success_at=None)
    fill(scheduler, "failing", 2, consecutive_failures=10)
    found = [delivery.webhook_id for delivery in begun(scheduler)]
    assert {"new", "failing"} <= set(found[:3])


def test_a_receiver_that_hangs_is_failing_at_once_and_its_queue_is_released() -> None:
    scheduler = FairScheduler()
    made = fill(scheduler, "a", 100)
    first = begun(scheduler)
    scheduler.on_outcome(outcome(first[0], error="timed out", seconds=5.0))
    assert scheduler.get("a").health is ReceiverHealth.FAILING
    assert begun(scheduler) == []
    assert scheduler.remove_unsent(claimed_before=0.0) == made[:PER_WEBHOOK:-1]
    assert scheduler.queued == 1
    for sent in first[1:]:
        scheduler.on_outcome(outcome(sent, error="timed out", seconds=5.0))
    assert len(begun(scheduler)) == 1, "one at a time"


def test_a_receiver_that_fails_quickly_is_failing_after_some_failures() -> None:
    scheduler = FairScheduler()
    fill(scheduler, "a", 100)
    healths = []
    for sent in begun(scheduler)[:3]:
        scheduler.on_outcome(outcome(sent, error="refused"))
        healths.append(scheduler.get("a").health)
    assert healths == [ReceiverHealth.UNKNOWN, ReceiverHealth.UNKNOWN, ReceiverHealth.FAILING]


def test_a_success_makes_a_receiver_healthy_again() -> None:
    scheduler = FairScheduler()
    fill(scheduler, "a", 20, consecutive_failures=10)
    (probe,) = begun(scheduler)
    scheduler.on_outcome(outcome(probe))
    assert scheduler.get("a").health is ReceiverHealth.HEALTHY
    assert len(begun(scheduler)) == PER_WEBHOOK


def test_slow_receivers_leave_threads_to_the_others() -> None:
    scheduler = FairScheduler()
    slow = [f"slow {number}" for number in range(SENDERS)]
    for webhook_id in slow:
        fill(scheduler, webhook_id, 3)
    for sent in begun(scheduler):
        scheduler.on_outcome(outcome(sent, seconds=SLOW_SECONDS))
    assert {scheduler.get(webhook_id).health for webhook_id in slow} == {ReceiverHealth.SLOW}
    assert len(begun(scheduler)) == FOR_SLOW
    fill(scheduler, "healthy", 20)
    assert {sent.webhook_id for sent in begun(scheduler)} == {"healthy"}


def test_a_receiver_with_an_overdue_response_gets_no_further_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scheduler = FairScheduler()
    fill(scheduler, "a", 2)
    first = begun(scheduler)
    fill(scheduler, "a", 5)
    monkeypatch.setattr(webhook_queue, "monotonic", lambda: monotonic() + 1)
    fill(scheduler, "b", 1)
    assert [sent.webhook_id for sent in begun(scheduler)] == ["b"]
    monkeypatch.undo()
    for sent in first:
        scheduler.on_outcome(outcome(sent))
    assert len(begun(scheduler)) == 5


def allowed(scheduler: FairScheduler, *webhooks: str) -> list[int]:
    """How many deliveries of each may be claimed in one scan."""
    queues = [scheduler.get(webhook_id) for webhook_id in webhooks]
    budget = ClaimBudget(scheduler, queues)
    return [budget.claim(queue) for queue in queues]


def test_no_more_is_claimed_than_is_sent_in_a_second() -> None:
    scheduler = FairScheduler()
    (sent,) = fill(scheduler, "a", 1)
    begun(scheduler)
    scheduler.on_outcome(outcome(sent, seconds=0.01))
    assert allowed(scheduler, "a") == [8 * PER_WEBHOOK]
    (sent,) = fill(scheduler, "a", 1)
    begun(scheduler)
    scheduler.on_outcome(outcome(sent, seconds=0.5))
    assert allowed(scheduler, "a") == [2 * PER_WEBHOOK]
    (sent,) = fill(scheduler, "a", 1)
    begun(scheduler)
    scheduler.on_outcome(outcome(sent, seconds=4.5))
    assert allowed(scheduler, "a") == [PER_WEBHOOK]


def test_claims_are_limited_for_each_account_and_for_all() -> None:
    scheduler = FairScheduler()
    for webhook_id in "abc":
        scheduler.refresh(pending(webhook_id, account_id="one"), MOMENT)
    assert allowed(scheduler, *"abc") == [128, 128, 0]
    many = [f"w{number}" for number in range(9)]
    for webhook_id in many:
        scheduler.refresh(pending(webhook_id), MOMENT)
    numbers = allowed(scheduler, *many)
    assert (sum(numbers), max(numbers) - min(numbers)) == (QUEUED, 1), "and they share it"
    unknown = [f"d{number}" for number in range(QUEUED_OF_OTHERS)]
    for webhook_id in unknown:
        scheduler.refresh(pending(webhook_id, last_success_at=None), MOMENT)
    assert sum(allowed(scheduler, *unknown)) == QUEUED_OF_OTHERS
    assert allowed(scheduler, "a") == [128], "healthy receivers have a budget of their own"


def test_accounts_with_much_to_send_leave_claims_to_another() -> None:
    scheduler = FairScheduler()
    many = [f"w{number}" for number in range(2 * WEBHOOKS_PER_ACCOUNT)]
    for number, webhook_id in enumerate(many):
        fill(scheduler, webhook_id, 4, account_id=f"account {number % 2}")
    scheduler.refresh(pending("single"), MOMENT)
    queues = [scheduler.get(webhook_id) for webhook_id in (*many, "single")]
    scan = DueScan("run", scheduler)
    assert "single" in scan._plan(queues, MOMENT)
    assert scan.next_due is not None, "the others' turn comes"


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6))
@examples(30)
def test_nothing_is_lost_or_begun_twice_and_no_share_is_exceeded(
    seed: int, webhooks: int, accounts: int
) -> None:
    chance = random.Random(seed)
    scheduler = FairScheduler()
    left = {
        delivery.id for n in range(webhooks) for delivery in _some(scheduler, chance, n, accounts)
    }
    in_flight: dict[str, ClaimedDelivery] = {}
    while left or in_flight:
        for queue, sent in scheduler.begin_next():
            left.remove(sent.id)
            in_flight[sent.id] = sent
            assert len(queue._in_flight) <= PER_WEBHOOK
        of_accounts = Counter(delivery.account_id for delivery in in_flight.values())
        assert len(in_flight) == scheduler.in_flight <= SENDERS
        assert max(of_accounts.values(), default=0) <= PER_ACCOUNT
        if in_flight:
            done = in_flight.pop(chance.choice(sorted(in_flight)))
            fails = chance.random() < 0.3
            scheduler.on_outcome(outcome(done, error="failed" if fails else None))
        until = 0.0 if chance.random() < 0.9 else monotonic()
        left -= {each.id for each in scheduler.remove_unsent(claimed_before=until)}
        assert in_flight or not left or scheduler.queued
    assert scheduler.queued == 0


def _some(
    scheduler: FairScheduler, chance: random.Random, number: int, accounts: int
) -> list[ClaimedDelivery]:
    columns: dict[str, object] = {"account_id": f"account {number % accounts}"}
    columns["consecutive_failures"] = chance.choice([0, 0, 1, 5])
    return fill(scheduler, f"webhook {number}", chance.randrange(1, 30), **columns)


def test_a_new_receiver_does_not_wait_for_failing_ones() -> None:
    """Why UNKNOWN is not FAILING."""
    scheduler = FairScheduler()
    for number in range(SENDERS):
        fill(scheduler, f"failing {number}", 1, consecutive_failures=FAILING_AFTER)
    assert len(begun(scheduler)) == FOR_FAILING
    fill(scheduler, "new", 1, last_success_at=None)
    assert [delivery.webhook_id for delivery in begun(scheduler)] == ["new"]


def test_a_slow_receiver_gets_requests_in_parallel_and_does_not_wait_for_new_ones() -> None:
    """Why SLOW is neither UNKNOWN nor FAILING."""
    scheduler = FairScheduler()
    (first,) = fill(scheduler, "slow", 1)
    begun(scheduler)
    scheduler.on_outcome(outcome(first, seconds=SLOW_SECONDS))
    for number in range(SENDERS):
        fill(scheduler, f"new {number}", 1, last_success_at=None)
        fill(scheduler, f"failing {number}", 1, consecutive_failures=FAILING_AFTER)
    assert len(begun(scheduler)) == FOR_UNKNOWN + FOR_FAILING
    fill(scheduler, "slow", 20)
    assert Counter(each.webhook_id for each in begun(scheduler)) == {
        "slow": SENDERS - FOR_UNKNOWN - FOR_FAILING
    }
