"""The run state of one webhook in this worker.

``WebhookQueue`` owns all of it: the deliveries that were claimed and wait, the requests in flight,
and the health of the receiver. Only its methods change that state; the scheduler and the scan for
due deliveries call them and read its properties. A diagram of the states is in
``docs/adr/0012-deliveries.md``.
"""

from __future__ import annotations

import logging
from collections import deque
from datetime import datetime
from enum import IntEnum, auto
from time import monotonic
from typing import Final

from app.policy.deliveries import FAILING_AFTER, PER_WEBHOOK, QUEUED_SECONDS, SLOW_SECONDS
from app.security.sealing import unseal
from app.webhooks.deliveries.types import ClaimedDelivery, Destination, Outcome, PendingWebhook

log = logging.getLogger(__name__)

_ROUNDS_CLAIMED: Final = 8  # of parallel requests to a receiver that responds
_CLAIMED_AS_PROBES: Final = 2  # for a receiver that is not known to respond
_STALLED_SECONDS: Final = 0.5
_DECAY: Final = 0.9  # of the remembered duration of attempts, at each that is quicker


class ReceiverHealth(IntEnum):
    """The health of a receiver, as far as this worker knows. Each kind may use a part of the sender
    threads, and exists to protect others from one way of holding threads up:

    * HEALTHY: the last attempt succeeded quickly. May use all threads.
    * SLOW: the last attempt succeeded after ``SLOW_SECONDS`` or more. A few dozen of these would
      hold every thread and delay the healthy ones. They are sent to in parallel nevertheless: with
      one request at a time, a receiver that needs three seconds would never catch up.
    * UNKNOWN: no success yet, or one or two quick failures since. May turn out to hang, so there is
      one request at a time. Apart from FAILING, since new webhooks and brief failures would
      otherwise wait behind every dead receiver.
    * FAILING: hung, or failed ``FAILING_AFTER`` times in a row. One request at a time, and nothing
      else claimed: pending deliveries stay in the database.
    """

    HEALTHY = auto()
    SLOW = auto()
    UNKNOWN = auto()
    FAILING = auto()

    @property
    def is_responding(self) -> bool:
        return self <= ReceiverHealth.SLOW


class WebhookQueue:
    """A webhook with the deliveries that this worker has claimed for it."""

    def __init__(self, pending: PendingWebhook) -> None:
        self.pending = pending
        self.destination: Destination | None = None  # None: no readable secret
        self.has_more = True  # whether more may be due than was claimed
        self.claimed_at = 0.0  # monotonic, like ``due_seen_at``
        self.due_seen_at = 0.0  # when something was last due
        self._sealed_destination: tuple[object, ...] = ()
        self._queued: deque[ClaimedDelivery] = deque()
        self._in_flight: dict[str, float] = {}  # start of each request by delivery, oldest first
        self._failures = pending.consecutive_failures
        self._was_slow = False
        self._seconds = 0.0  # recent duration of an attempt
        self.health = self._assess(has_succeeded=pending.last_success_at is not None)

    @property
    def account_id(self) -> str:
        return self.pending.account_id

    @property
    def queued(self) -> int:
        """The number of claimed deliveries that wait for their turn."""
        return len(self._queued)

    @property
    def is_active(self) -> bool:
        return bool(self._queued or self._in_flight)

    @property
    def is_stalled(self) -> bool:
        """True if a response is overdue, so that no further request should wait beside it."""
        started_at = next(iter(self._in_flight.values()), None)
        return started_at is not None and monotonic() - started_at > _STALLED_SECONDS

    def limit(self, share: int) -> int:
        """The most requests in flight, given each receiver's share of threads."""
        if not self.health.is_responding or self.is_stalled:
            return 1
        return max(1, min(PER_WEBHOOK, share))

    def can_begin(self, share: int) -> bool:
        """True if another request may begin. The lease of a delivery that has waited for long might
        expire during the attempt, and another worker would send it too."""
        in_flight = len(self._in_flight)
        if not self._queued or (in_flight and in_flight >= self.limit(share)):
            return False
        return monotonic() - self._queued[0].claimed_at < QUEUED_SECONDS

    def claimable(self, share: int) -> int:
        """The number of deliveries to claim now, on top: as many as the receiver takes in a second
        or less."""
        if self.health.is_responding:
            rounds = min(_ROUNDS_CLAIMED, 1.0 / max(self._seconds, 0.001))
            most = int(self.limit(share) * max(1.0, rounds))
            missing = most - len(self._queued)
            return missing if missing * 2 >= most else 0
        if self.is_active:
            return 0
        return 1 if self._was_slow else _CLAIMED_AS_PROBES

    def is_canceled(self, delivery: ClaimedDelivery) -> bool:
        """True if the webhook was disabled or deleted after the delivery was created. Tests are
        sent anyway."""
        canceled_at = self.pending.canceled_at
        if canceled_at is not None and delivery.created_at <= canceled_at:
            return True
        return not self.pending.enabled and delivery.cause != "test"

    def refresh(self, pending: PendingWebhook, now: datetime) -> None:
        """Update the webhook from the database."""
        self.pending, self.has_more = pending, pending.due_at <= now
        if self.has_more:
            self.due_seen_at = monotonic()
        sealed = _sealed_secrets(pending, now)
        if (pending.url, sealed) != self._sealed_destination:  # unsealing takes a while
            self._sealed_destination = (pending.url, sealed)
            self.destination = _destination(pending, sealed)

    def note_claim(self, wanted: int, claimed: int) -> None:
        """Note a claim. If it returned as many as were wanted, there may be more."""
        self.has_more = claimed >= wanted
        self.claimed_at = monotonic()

    def enqueue(self, delivery: ClaimedDelivery) -> None:
        self._queued.append(delivery)

    def begin(self) -> ClaimedDelivery:
        """Move the first queued delivery in flight."""
        delivery = self._queued.popleft()
        self._in_flight[delivery.id] = monotonic()
        return delivery

    def on_outcome(self, outcome: Outcome) -> list[ClaimedDelivery]:
        """End an attempt and learn from it. Returns queued deliveries to release when the receiver
        turned out to fail: all but one probe, and all when it is gone."""
        del self._in_flight[outcome.delivery.id]
        if not outcome.is_internal_error:
            self._learn(outcome)
        if self.health is not ReceiverHealth.FAILING:
            return []
        kept = 0 if outcome.is_gone else 1
        surplus = [self._queued.pop() for _ in range(len(self._queued) - kept)]
        self.has_more |= bool(surplus)
        return surplus

    def remove_canceled(self) -> list[ClaimedDelivery]:
        """Remove queued deliveries that are canceled, and return them."""
        if self.pending.enabled and not self.pending.canceled_at:
            return []
        canceled = [each for each in self._queued if self.is_canceled(each)]
        self._queued = deque(each for each in self._queued if not self.is_canceled(each))
        return canceled

    def remove_expired(self, claimed_before: float) -> list[ClaimedDelivery]:
        """Remove deliveries that were claimed before a time, and return them."""
        expired = []
        while self._queued and self._queued[0].claimed_at <= claimed_before:
            expired.append(self._queued.popleft())
        self.has_more |= bool(expired)
        return expired

    def _learn(self, outcome: Outcome) -> None:
        if outcome.error is None:
            self._failures = 0
        else:
            self._failures += FAILING_AFTER if outcome.is_gone else 1
        self._was_slow = outcome.seconds >= SLOW_SECONDS
        self._seconds = max(outcome.seconds, self._seconds * _DECAY)
        self.health = self._assess(has_succeeded=outcome.error is None)

    def _assess(self, *, has_succeeded: bool) -> ReceiverHealth:
        if self._failures == 0 and has_succeeded:
            return ReceiverHealth.SLOW if self._was_slow else ReceiverHealth.HEALTHY
        if self._was_slow or self._failures >= FAILING_AFTER:
            return ReceiverHealth.FAILING
        return ReceiverHealth.UNKNOWN


def _sealed_secrets(pending: PendingWebhook, now: datetime) -> tuple[str, ...]:
    """The secrets that sign now: the current one, and for a while after a rotation the former
    one."""
    former, until = pending.sealed_former_secret, pending.former_secret_until
    if former is None or until is None or now >= until:
        return (pending.sealed_secret,)
    return pending.sealed_secret, former


def _destination(pending: PendingWebhook, sealed: tuple[str, ...]) -> Destination | None:
    if not pending.sealed_secret:  # the webhook is deleted
        return None
    try:
        return Destination(pending.url, tuple(unseal(text) for text in sealed))
    except ValueError as error:
        log.error("cannot read the secret of webhook %s: %s", pending.webhook_id, error)
        return None
