"""Whose turn it is: receivers take turns, and none gets more than its share.

What a receiver can hold up is bounded three times: by what it, its account, and all receivers of
its standing may have under way at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from time import monotonic
from typing import Final

from app.deliveries.leases import PendingWebhook
from app.deliveries.types import ClaimedDelivery, Outcome
from app.deliveries.webhook_queue import ReceiverHealth, WebhookQueue
from app.policy.deliveries import (
    FOR_SLOW,
    FOR_SUSPECTS,
    FOR_UNTRIED,
    HELD,
    HELD_OF_OTHERS,
    HELD_PER_ACCOUNT,
    PER_ACCOUNT,
    SENDERS,
)

_ROOM: Final = {
    ReceiverHealth.GOOD: SENDERS,
    ReceiverHealth.SLOW: FOR_SLOW,
    ReceiverHealth.UNTRIED: FOR_UNTRIED,
    ReceiverHealth.SUSPECT: FOR_SUSPECTS,
}
_KEPT_SECONDS: Final = 60.0  # what was learned of a receiver that nothing waits for


class ClaimBudget:
    """What may be claimed in one look, so that memory has an end, and nobody fills it alone."""

    def __init__(self, courses: Collection[WebhookQueue], share: int) -> None:
        self._share = share
        good = sum(len(each.ready) for each in courses if each.standing is ReceiverHealth.GOOD)
        others = sum(len(each.ready) for each in courses) - good
        self._left = {True: HELD - good, False: HELD_OF_OTHERS - others}
        self._of_account: Counter[str] = Counter()
        for each in courses:
            self._of_account[each.waiting.account_id] += len(each.ready)

    def claim(self, course: WebhookQueue) -> int:
        """How many deliveries of a webhook to claim; less than it wants when there is no room."""
        account_id, is_good = course.waiting.account_id, course.standing is ReceiverHealth.GOOD
        room = min(self._left[is_good], HELD_PER_ACCOUNT - self._of_account[account_id])
        number = max(0, min(course.wanted(self._share), room))
        self._left[is_good] -= number
        self._of_account[account_id] += number
        return number

    def is_missing(self, course: WebhookQueue, number: int) -> bool:
        """Whether so many are less than it wants."""
        return number < course.wanted(self._share)


class FairScheduler:
    """The receivers that something waits for, in turn."""

    def __init__(self) -> None:
        self.ready = 0  # parcels that wait for their turn
        self.under_way = 0
        self._courses: dict[str, WebhookQueue] = {}
        # Those that may begin another request, as far as they themselves are concerned.
        self._turns: dict[ReceiverHealth, deque[WebhookQueue]] = {
            standing: deque() for standing in ReceiverHealth
        }
        # Those whose account has as much under way as it may have.
        self._held_up: defaultdict[str, deque[WebhookQueue]] = defaultdict(deque)
        self._of_account: Counter[str] = Counter()
        self._of_standing: Counter[ReceiverHealth] = Counter()
        self._sent_as: dict[str, ReceiverHealth] = {}  # by delivery
        self._surplus: list[ClaimedDelivery] = []  # of receivers that turned out to fail
        self._share = SENDERS

    def see(self, waiting: PendingWebhook, now: datetime) -> WebhookQueue | None:
        """Take up what the database says of a webhook that something is pending for. Returns its
        course; None when nothing is due, and nothing in hand."""
        course = self._courses.get(waiting.webhook_id)
        if course is None:
            if waiting.due_at > now:
                return None
            course = self._courses[waiting.webhook_id] = WebhookQueue(waiting)
        course.see(waiting, now)
        return course

    def get(self, webhook_id: str) -> WebhookQueue:
        """The course of a webhook that was seen. Raises KeyError."""
        return self._courses[webhook_id]

    def allowance(self) -> ClaimBudget:
        """What may be claimed now."""
        return ClaimBudget(self._courses.values(), self._share)

    def add(self, parcels: Iterable[ClaimedDelivery]) -> None:
        """Parcels that were claimed; of each webhook the one that is due first in front."""
        touched = {}
        for parcel in parcels:
            course = touched[parcel.webhook_id] = self._courses[parcel.webhook_id]
            course.ready.append(parcel)
            self.ready += 1
        answering = sum(
            course.is_active and course.standing.answers for course in self._courses.values()
        )
        self._share = max(1, SENDERS // max(1, answering))
        for course in touched.values():
            self._enlist(course)

    def next(self) -> Iterator[tuple[WebhookQueue, ClaimedDelivery]]:
        """What may begin now, taking turns. What is yielded is under way."""
        standings = [standing for standing, turns in self._turns.items() if turns]
        while standings and self.under_way < SENDERS:
            for standing in tuple(standings):
                course = self._take_turn(standing) if self.under_way < SENDERS else None
                if course is None:
                    standings.remove(standing)
                    continue
                parcel = course.ready.popleft()
                self._begin(course, parcel)
                self._enlist(course)
                yield course, parcel

    def note(self, outcome: Outcome) -> bool:
        """An attempt has ended. Returns whether more should be claimed for its webhook."""
        course = self._courses[outcome.parcel.webhook_id]
        self._end(course, outcome.parcel)
        course.note(outcome)
        kept = 0 if outcome.is_gone else 1
        while course.standing is ReceiverHealth.SUSPECT and len(course.ready) > kept:
            self._surplus.append(course.ready.pop())
            course.has_more = True
        self._enlist(course)
        return course.has_more and course.wanted(self._share) > 0

    def take_canceled(self) -> list[ClaimedDelivery]:
        """Parcels of webhooks that were disabled or deleted since they were claimed; they wait here
        no more."""
        taken: list[ClaimedDelivery] = []
        for course in self._courses.values():
            if course.ready and (course.waiting.canceled_at or not course.waiting.enabled):
                taken += [parcel for parcel in course.ready if course.is_canceled(parcel)]
                kept = [parcel for parcel in course.ready if not course.is_canceled(parcel)]
                course.ready = deque(kept)
        self.ready -= len(taken)
        return taken

    def take_back(self, *, claimed_before: float) -> list[ClaimedDelivery]:
        """Parcels that have waited since then or longer, or that it is no time for; they wait here
        no more."""
        taken, self._surplus = self._surplus, []
        for course in self._courses.values():
            while course.ready and course.ready[0].claimed_at <= claimed_before:
                taken.append(course.ready.popleft())
                course.has_more = True
        self.ready -= len(taken)
        return taken

    def forget_idle(self) -> None:
        """Forget receivers for which nothing was due for a while."""
        since = monotonic() - _KEPT_SECONDS
        for key, course in list(self._courses.items()):
            if not course.is_active and course.seen_at < since:
                del self._courses[key]
        self._of_account = +self._of_account

    def _enlist(self, course: WebhookQueue) -> None:
        """Give it a turn, if it can use one and has none yet."""
        if not course.is_listed and self._can_begin(course):
            course.is_listed = True
            self._turns[course.standing].append(course)

    def _can_begin(self, course: WebhookQueue) -> bool:
        return bool(course.ready) and course.under_way < course.limit(self._share)

    def _take_turn(self, standing: ReceiverHealth) -> WebhookQueue | None:
        """Who is next of a standing, or None when there is no room for any."""
        turns = self._turns[standing]
        for _ in range(len(turns)):
            if self._of_standing[standing] >= _ROOM[standing]:
                return None
            course = turns.popleft()
            course.is_listed = False
            if course.standing is not standing or not self._can_begin(course):
                self._enlist(course)  # what is known of it has changed since it was listed
            elif self._of_account[course.waiting.account_id] < PER_ACCOUNT:
                return course
            else:
                course.is_listed = True
                self._held_up[course.waiting.account_id].append(course)
        return None

    def _begin(self, course: WebhookQueue, parcel: ClaimedDelivery) -> None:
        self.ready -= 1
        self.under_way += 1
        course.begun[parcel.id] = monotonic()
        self._of_account[course.waiting.account_id] += 1
        self._of_standing[course.standing] += 1
        self._sent_as[parcel.id] = course.standing

    def _end(self, course: WebhookQueue, parcel: ClaimedDelivery) -> None:
        account_id = course.waiting.account_id
        self.under_way -= 1
        del course.begun[parcel.id]
        self._of_account[account_id] -= 1
        self._of_standing[self._sent_as.pop(parcel.id)] -= 1
        if account_id in self._held_up:
            held_up = self._held_up[account_id].popleft()
            self._turns[held_up.standing].append(held_up)
            if not self._held_up[account_id]:
                del self._held_up[account_id]
