"""Choosing the next delivery: accounts take turns, and so do the webhooks of an account.

Requests in flight are limited for each webhook, for each account, and for all receivers of one
health. The threads are divided among the accounts, and an account's share among its webhooks.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from time import monotonic
from typing import Final

from app.policy.deliveries import FOR_FAILING, FOR_SLOW, FOR_UNKNOWN, PER_ACCOUNT, SENDERS
from app.webhooks.deliveries.types import ClaimedDelivery, Outcome, PendingWebhook
from app.webhooks.deliveries.webhook_queue import ReceiverHealth, WebhookQueue

_LIMITS: Final = {
    ReceiverHealth.HEALTHY: SENDERS,
    ReceiverHealth.SLOW: FOR_SLOW,
    ReceiverHealth.UNKNOWN: FOR_UNKNOWN,
    ReceiverHealth.FAILING: FOR_FAILING,
}
_REMEMBERED_SECONDS: Final = 60.0  # for which an idle receiver's health is known


class FairScheduler:
    """The queues of all webhooks with pending deliveries, in turns."""

    def __init__(self) -> None:
        self.queued = 0  # deliveries that wait for their turn
        self.in_flight = 0
        self._queues: dict[str, WebhookQueue] = {}
        # Queues with claimed deliveries, and some that had any: few, however many webhooks there
        # are.
        self._active: dict[str, WebhookQueue] = {}
        # Threads for each account with responding receivers, and for each such receiver by account.
        self._share_of_account = SENDERS
        self._shares: dict[str, int] = {}
        # Queues that may begin another request, by health and account.
        self._turns: dict[ReceiverHealth, dict[str, deque[WebhookQueue]]] = {
            health: {} for health in ReceiverHealth
        }
        self._has_turn: set[WebhookQueue] = set()  # queues in one of these deques
        self._in_flight_by_account: Counter[str] = Counter()
        self._in_flight_by_health: Counter[ReceiverHealth] = Counter()
        self._in_flight_by_both: Counter[tuple[str, ReceiverHealth]] = Counter()
        self._sent_as: dict[str, ReceiverHealth] = {}  # by delivery in flight
        self._surplus: list[ClaimedDelivery] = []  # to release, as their receivers fail

    @property
    def active(self) -> Collection[WebhookQueue]:
        """All queues with claimed deliveries, and some that had any."""
        return self._active.values()

    def share(self, queue: WebhookQueue) -> int:
        """Return the threads for a webhook whose receiver responds; 0 if there are more of these
        than threads."""
        return self._shares.get(queue.account_id, self._share_of_account)

    def get(self, webhook_id: str) -> WebhookQueue:
        """Return the queue of a webhook. Raises KeyError."""
        return self._queues[webhook_id]

    def refresh(self, pending: PendingWebhook, now: datetime) -> WebhookQueue | None:
        """Update a webhook from the database. Returns its queue, or None if nothing is due or
        claimed."""
        queue = self._queues.get(pending.webhook_id)
        if queue is None:
            if pending.due_at > now:
                return None
            queue = self._queues[pending.webhook_id] = WebhookQueue(pending)
        queue.refresh(pending, now)
        return queue

    def enqueue(self, deliveries: Iterable[ClaimedDelivery]) -> None:
        """Add claimed deliveries, for each webhook in the order of their due times."""
        changed = {}
        self._active = {key: queue for key, queue in self._active.items() if queue.is_active}
        for delivery in deliveries:
            queue = changed[delivery.webhook_id] = self._queues[delivery.webhook_id]
            queue.enqueue(delivery)
            self.queued += 1
        self._active |= changed
        responding = Counter(
            queue.account_id
            for queue in self.active
            if queue.is_active and queue.health.is_responding
        )
        self._share_of_account = SENDERS // max(1, len(responding))
        self._shares = {
            account_id: self._share_of_account // number
            for account_id, number in responding.items()
        }
        for queue in changed.values():
            self._give_turn(queue)

    def begin_next(self) -> Iterator[tuple[WebhookQueue, ClaimedDelivery]]:
        """Yield the deliveries to send now, in turns. From then on they are in flight."""
        kinds = [health for health, turns in self._turns.items() if turns]
        while kinds and self.in_flight < SENDERS:
            for health in tuple(kinds):
                queue = self._next_queue(health) if self.in_flight < SENDERS else None
                if queue is None:
                    kinds.remove(health)
                    continue
                delivery = self._begin(queue)
                self._give_turn(queue)
                yield queue, delivery

    def on_outcome(self, outcome: Outcome) -> bool:
        """End an attempt. Returns True if more should be claimed for its webhook."""
        queue = self._queues[outcome.delivery.webhook_id]
        self._count(queue.account_id, self._sent_as.pop(outcome.delivery.id), -1)
        self._surplus += queue.on_outcome(outcome)
        self._give_turn(queue)
        return queue.has_more and queue.claimable(self.share(queue)) > 0

    def remove_canceled(self) -> list[ClaimedDelivery]:
        """Remove queued deliveries whose webhook was disabled or deleted, and return them."""
        removed = [delivery for queue in self.active for delivery in queue.remove_canceled()]
        self.queued -= len(removed)
        return removed

    def remove_unsent(self, *, claimed_before: float) -> list[ClaimedDelivery]:
        """Remove deliveries that were claimed before a time, and the surplus of receivers that
        fail. Returns them, to be released in the database."""
        removed, self._surplus = self._surplus, []
        for queue in self.active:
            removed += queue.remove_expired(claimed_before)
            self._give_turn(queue)  # the rest may begin, if only the first was too old
        self.queued -= len(removed)
        return removed

    def forget_idle(self) -> None:
        """Forget receivers that had nothing due for a while."""
        since = monotonic() - _REMEMBERED_SECONDS
        for webhook_id, queue in list(self._queues.items()):
            if not queue.is_active and queue.due_seen_at < since:
                del self._queues[webhook_id]
        self._in_flight_by_account = +self._in_flight_by_account
        self._in_flight_by_both = +self._in_flight_by_both

    def _give_turn(self, queue: WebhookQueue) -> None:
        """Give a queue a turn if it can use one and has none."""
        if queue not in self._has_turn and queue.can_begin(self.share(queue)):
            self._has_turn.add(queue)
            self._turns[queue.health].setdefault(queue.account_id, deque()).append(queue)

    def _next_queue(self, health: ReceiverHealth) -> WebhookQueue | None:
        """Return the queue of this health whose turn it is, or None if none may begin a request.
        Its account has the fewest requests in flight to such receivers."""
        turns, in_flight = self._turns[health], self._in_flight_by_both
        while self._in_flight_by_health[health] < _LIMITS[health]:
            busy = self._in_flight_by_account
            free = (account for account in turns if busy[account] < PER_ACCOUNT)
            account_id = min(free, key=lambda account: in_flight[account, health], default=None)
            if account_id is None:
                return None
            waiting = turns.pop(account_id)
            queue = self._next_of(waiting, health)
            if waiting:
                turns[account_id] = waiting
            if queue is not None:
                return queue
        return None

    def _next_of(self, waiting: deque[WebhookQueue], health: ReceiverHealth) -> WebhookQueue | None:
        """Take queues of an account until one may begin a request; None if there is none."""
        while waiting:
            queue = waiting.popleft()
            self._has_turn.discard(queue)
            if queue.health is health and queue.can_begin(self.share(queue)):
                return queue
            self._give_turn(queue)  # its health may have changed since
        return None

    def _begin(self, queue: WebhookQueue) -> ClaimedDelivery:
        delivery = queue.begin()
        self.queued -= 1
        self._sent_as[delivery.id] = queue.health
        self._count(queue.account_id, queue.health, 1)
        return delivery

    def _count(self, account_id: str, health: ReceiverHealth, requests: int) -> None:
        self.in_flight += requests
        self._in_flight_by_account[account_id] += requests
        self._in_flight_by_health[health] += requests
        self._in_flight_by_both[account_id, health] += requests
