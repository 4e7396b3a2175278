"""Receivers take turns, and what hangs holds up nobody else."""

from __future__ import annotations

import random
from collections import Counter
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.deliveries import webhook_queue
from app.deliveries.scheduler import FairScheduler
from app.deliveries.types import ClaimedDelivery
from app.deliveries.webhook_queue import ReceiverHealth
from app.policy.deliveries import (
    FOR_SLOW,
    FOR_SUSPECTS,
    FOR_UNTRIED,
    HELD,
    HELD_OF_OTHERS,
    PER_ACCOUNT,
    PER_WEBHOOK,
    SENDERS,
    SLOW_SECONDS,
    SUSPECT_AFTER,
)
from tests.deliveries.makers import MOMENT, outcome, parcel, waiting


def fill(
    rotation: FairScheduler, webhook_id: str, number: int, **columns: object
) -> list[ClaimedDelivery]:
    """Have so many parcels wait for a webhook."""
    webhook_queue = rotation.see(waiting(webhook_id, **columns), MOMENT)
    assert webhook_queue is not None
    made = [parcel(webhook_id, account_id=webhook_queue.waiting.account_id) for _ in range(number)]
    rotation.add(made)
    return made


def begun(rotation: FairScheduler) -> list[ClaimedDelivery]:
    return [parcel for _, parcel in rotation.next()]


def test_one_webhook_has_so_many_requests_under_way() -> None:
    rotation = FairScheduler()
    made = fill(rotation, "a", 100)
    assert begun(rotation) == made[:PER_WEBHOOK]
    assert begun(rotation) == []
    rotation.note(outcome(made[0]))
    assert begun(rotation) == [made[PER_WEBHOOK]]


def test_webhooks_take_turns() -> None:
    rotation = FairScheduler()
    for webhook_id in "abc":
        fill(rotation, webhook_id, 50)
    found = [parcel.webhook_id for parcel in begun(rotation)]
    assert found[:6] == ["a", "b", "c", "a", "b", "c"]
    assert set(Counter(found).values()) == {PER_WEBHOOK}


def test_many_webhooks_have_a_fair_share_each() -> None:
    rotation = FairScheduler()
    for number in range(32):
        fill(rotation, f"w{number:02}", 50)
    found = Counter(parcel.webhook_id for parcel in begun(rotation))
    assert set(found.values()) == {SENDERS // 32}
    assert rotation.under_way == SENDERS


def test_an_account_has_so_many_requests_under_way() -> None:
    rotation = FairScheduler()
    for webhook_id in "abcd":
        fill(rotation, webhook_id, 50, account_id="one")
    fill(rotation, "e", 50, account_id="other")
    found = begun(rotation)
    accounts = Counter(parcel.account_id for parcel in found)
    assert accounts == {"one": PER_ACCOUNT, "other": SENDERS // 5}
    mine = next(parcel for parcel in found if parcel.account_id == "one")
    rotation.note(outcome(mine))
    assert [parcel.account_id for parcel in begun(rotation)] == ["one"]


@pytest.mark.parametrize(
    ("columns", "room"),
    [
        ({"last_success_at": None}, FOR_UNTRIED),
        ({"consecutive_failures": 1}, FOR_UNTRIED),
        ({"consecutive_failures": SUSPECT_AFTER}, FOR_SUSPECTS),
    ],
)
def test_the_doubtful_share_a_part(columns: dict[str, object], room: int) -> None:
    rotation = FairScheduler()
    for number in range(SENDERS):
        fill(rotation, f"doubtful {number}", 2, **columns)
    assert len(begun(rotation)) == room
    fill(rotation, "good", 20)
    found = begun(rotation)
    assert {parcel.webhook_id for parcel in found} == {"good"}, "it does not wait for them"


def test_the_good_leave_turns_to_the_doubtful() -> None:
    rotation = FairScheduler()
    for number in range(SENDERS):
        fill(rotation, f"good {number}", 50)
    fill(rotation, "new", 2, last_success_at=None)
    fill(rotation, "failing", 2, consecutive_failures=10)
    found = [parcel.webhook_id for parcel in begun(rotation)]
    assert {"new", "failing"} <= set(found[:3])


def test_one_that_hangs_is_a_suspect_at_once_and_gives_back_what_it_cannot_use() -> None:
    rotation = FairScheduler()
    made = fill(rotation, "a", 100)
    first = begun(rotation)
    rotation.note(outcome(first[0], error="timed out", seconds=5.0))
    assert rotation.get("a").standing is ReceiverHealth.SUSPECT
    assert begun(rotation) == []
    assert rotation.take_back(claimed_before=0.0) == made[:PER_WEBHOOK:-1]
    assert rotation.ready == 1
    for sent in first[1:]:
        rotation.note(outcome(sent, error="timed out", seconds=5.0))
    assert len(begun(rotation)) == 1, "one at a time"


def test_one_that_fails_quickly_is_a_suspect_after_some() -> None:
    rotation = FairScheduler()
    fill(rotation, "a", 100)
    standings = []
    for sent in begun(rotation)[:3]:
        rotation.note(outcome(sent, error="refused"))
        standings.append(rotation.get("a").standing)
    assert standings == [ReceiverHealth.UNTRIED, ReceiverHealth.UNTRIED, ReceiverHealth.SUSPECT]


def test_a_success_makes_it_good_again() -> None:
    rotation = FairScheduler()
    fill(rotation, "a", 20, consecutive_failures=10)
    (probe,) = begun(rotation)
    rotation.note(outcome(probe))
    assert rotation.get("a").standing is ReceiverHealth.GOOD
    assert len(begun(rotation)) == PER_WEBHOOK


def test_one_that_answers_slowly_leaves_room_to_the_others() -> None:
    rotation = FairScheduler()
    slow = [f"slow {number}" for number in range(SENDERS)]
    for webhook_id in slow:
        fill(rotation, webhook_id, 3)
    for sent in begun(rotation):
        rotation.note(outcome(sent, seconds=SLOW_SECONDS))
    assert {rotation.get(webhook_id).standing for webhook_id in slow} == {ReceiverHealth.SLOW}
    assert len(begun(rotation)) == FOR_SLOW
    fill(rotation, "good", 20)
    assert {sent.webhook_id for sent in begun(rotation)} == {"good"}


def test_those_that_fail_cost_the_others_no_part_of_their_share() -> None:
    rotation = FairScheduler()
    for number in range(SENDERS):
        fill(rotation, f"dead {number}", 1, consecutive_failures=10)
    fill(rotation, "good", 50)
    found = Counter(sent.webhook_id for sent in begun(rotation))
    assert found["good"] == PER_WEBHOOK


def test_one_that_is_late_gets_no_more_before_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    rotation = FairScheduler()
    fill(rotation, "a", 2)
    first = begun(rotation)
    fill(rotation, "a", 5)
    monkeypatch.setattr(webhook_queue, "monotonic", lambda: monotonic() + 1)
    fill(rotation, "b", 1)
    assert [sent.webhook_id for sent in begun(rotation)] == ["b"]
    monkeypatch.undo()
    for sent in first:
        rotation.note(outcome(sent))
    assert len(begun(rotation)) == 5


def allowed(rotation: FairScheduler, *webhooks: str) -> list[int]:
    """How many deliveries of each may be claimed in one look."""
    allowance = rotation.allowance()
    return [allowance.claim(rotation.get(webhook_id)) for webhook_id in webhooks]


def test_no_more_is_claimed_than_is_sent_in_a_second_or_less() -> None:
    rotation = FairScheduler()
    (sent,) = fill(rotation, "a", 1)
    begun(rotation)
    rotation.note(outcome(sent, seconds=0.01))
    assert allowed(rotation, "a") == [8 * PER_WEBHOOK]
    (sent,) = fill(rotation, "a", 1)
    begun(rotation)
    rotation.note(outcome(sent, seconds=0.5))
    assert allowed(rotation, "a") == [2 * PER_WEBHOOK]
    (sent,) = fill(rotation, "a", 1)
    begun(rotation)
    rotation.note(outcome(sent, seconds=4.5))
    assert allowed(rotation, "a") == [PER_WEBHOOK]


def test_memory_has_an_end_for_each_account_and_for_all() -> None:
    rotation = FairScheduler()
    for webhook_id in "abc":
        rotation.see(waiting(webhook_id, account_id="one"), MOMENT)
    assert allowed(rotation, *"abc") == [128, 128, 0]
    many = [f"w{number}" for number in range(9)]
    for webhook_id in many:
        rotation.see(waiting(webhook_id), MOMENT)
    assert sum(allowed(rotation, *many)) == HELD
    doubtful = [f"d{number}" for number in range(HELD_OF_OTHERS)]
    for webhook_id in doubtful:
        rotation.see(waiting(webhook_id, last_success_at=None), MOMENT)
    assert sum(allowed(rotation, *doubtful)) == HELD_OF_OTHERS
    assert allowed(rotation, "a") == [128], "the others have an end of their own"


def test_what_waits_too_long_is_taken_back() -> None:
    rotation = FairScheduler()
    made = fill(rotation, "a", PER_WEBHOOK + 3)
    begun(rotation)
    assert rotation.take_back(claimed_before=monotonic() - 10) == []
    assert rotation.take_back(claimed_before=monotonic()) == made[PER_WEBHOOK:]
    assert rotation.ready == 0
    assert begun(rotation) == []


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6))
def test_nothing_is_lost_or_begun_twice_and_no_share_is_exceeded(
    seed: int, webhooks: int, accounts: int
) -> None:
    chance = random.Random(seed)
    rotation = FairScheduler()
    left = {parcel.id for n in range(webhooks) for parcel in _some(rotation, chance, n, accounts)}
    under_way: dict[str, ClaimedDelivery] = {}
    while left or under_way:
        for begun_by, sent in rotation.next():
            left.remove(sent.id)
            under_way[sent.id] = sent
            assert begun_by.under_way <= PER_WEBHOOK
        of_accounts = Counter(parcel.account_id for parcel in under_way.values())
        assert len(under_way) == rotation.under_way <= SENDERS
        assert max(of_accounts.values(), default=0) <= PER_ACCOUNT
        if under_way:
            done = under_way.pop(chance.choice(sorted(under_way)))
            fails = chance.random() < 0.3
            rotation.note(outcome(done, error="failed" if fails else None))
        until = 0.0 if chance.random() < 0.9 else monotonic()
        left -= {waited.id for waited in rotation.take_back(claimed_before=until)}
        assert under_way or not left or rotation.ready
    assert rotation.ready == 0


def _some(
    rotation: FairScheduler, chance: random.Random, number: int, accounts: int
) -> list[ClaimedDelivery]:
    columns: dict[str, object] = {"account_id": f"account {number % accounts}"}
    columns["consecutive_failures"] = chance.choice([0, 0, 1, 5])
    return fill(rotation, f"webhook {number}", chance.randrange(1, 30), **columns)
