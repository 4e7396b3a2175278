"""The state of a webhook in this worker: its claimed deliveries, its requests in flight, and the
health of its receiver. ``docs/adr/0012-deliveries.md`` has a diagram.

Only methods of ``WebhookQueue`` change the state. The scheduler and the scan call them.
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

_ROUNDS_CLAIMED: Final = 8  # rounds of parallel requests to claim for a responding receiver
_PROBES_CLAIMED: Final = 2  # deliveries to claim for a receiver that is not known to respond
_STALLED_SECONDS: Final = 0.5
_DECAY: Final = 0.9  # factor of the remembered duration at each quicker attempt


class ReceiverHealth(IntEnum):
    """The health of a receiver, as far as this worker knows. Each kind may use a part of the sender
    threads:

    * HEALTHY: the last attempt succeeded quickly. May use all threads.
    * SLOW: the last attempt succeeded after ``SLOW_SECONDS`` or more. A few dozen such receivers
      would occupy every thread. They still get parallel requests: with one at a time, a receiver
      that needs three seconds would never catch up.
    * UNKNOWN: no success yet, or one or two quick failures since. It may hang, so it gets one
    request
      at a time. It differs from FAILING, as new webhooks and brief failures would otherwise wait
      behind all dead receivers.
    * FAILING: hung, or failed ``FAILING_AFTER`` times in a row. Gets one request at a time; no
    other
      delivery is claimed.
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
        self.destination: Destination | None = None  # None: there is no readable secret
        self.has_more = True  # more may be due than was claimed
        self.claimed_at = 0.0  # monotonic
        self.due_seen_at = 0.0  # when a delivery was last due; monotonic
        self._sealed_destination: tuple[object, ...] = ()
        self._queued: deque[ClaimedDelivery] = deque()
        self._in_flight: dict[str, float] = {}  # start of the request by delivery, oldest first
        self._failures = pending.consecutive_failures
        self._was_slow = False
        self._seconds = 0.0  # recent duration of attempts
        self.health = self._assess(has_succeeded=pending.last_success_at is not None)

    @property
    def account_id(self) -> str:
        return self.pending.account_id

    @property
    def queued(self) -> int:
        """The number of deliveries that wait for their turn."""
        return len(self._queued)

    @property
    def is_active(self) -> bool:
        return bool(self._queued or self._in_flight)

    @property
    def is_stalled(self) -> bool:
        """True if a response is overdue, so that no further request should begin."""
        started_at = next(iter(self._in_flight.values()), None)
        return started_at is not None and monotonic() - started_at > _STALLED_SECONDS

    def limit(self, share: int) -> int:
        """Return the most requests in flight, with this share of threads."""
        if not self.health.is_responding or self.is_stalled:
            return 1
        return max(1, min(PER_WEBHOOK, share))

    def can_begin(self, share: int) -> bool:
        """True if another request may begin. If the delivery has waited too long, its lease could
        expire during the attempt, and another worker would send it, too."""
        in_flight = len(self._in_flight)
        if not self._queued or (in_flight and in_flight >= self.limit(share)):
            return False
        return monotonic() - self._queued[0].claimed_at < QUEUED_SECONDS

    def claimable(self, share: int) -> int:
        """Return the number of deliveries to claim now: what the receiver takes in a second, or in
        ``_ROUNDS_CLAIMED`` rounds. It is 0 while more than half of that is queued."""
        if self.health.is_responding:
            rounds = min(_ROUNDS_CLAIMED, 1.0 / max(self._seconds, 0.001))
            target = int(self.limit(share) * max(1.0, rounds))
            missing = target - len(self._queued)
            return missing if missing * 2 >= target else 0
        if self.is_active:
            return 0
        return 1 if self._was_slow else _PROBES_CLAIMED

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
        if (pending.url, sealed) != self._sealed_destination:  # unsealing takes time
            self._sealed_destination = (pending.url, sealed)
            self.destination = _webhook_destination(pending, sealed)

    def note_claim(self, limit: int, claimed: int) -> None:
        """Note a claim. If it reached its limit, more may be due."""
        self.has_more = claimed >= limit
        self.claimed_at = monotonic()

    def enqueue(self, delivery: ClaimedDelivery) -> None:
        self._queued.append(delivery)

    def begin(self) -> ClaimedDelivery:
        """Move the first queued delivery in flight."""
        delivery = self._queued.popleft()
        self._in_flight[delivery.id] = monotonic()
        return delivery

    def on_outcome(self, outcome: Outcome) -> list[ClaimedDelivery]:
        """End an attempt and learn from it. If the receiver fails, returns queued deliveries to
        release: all but one probe, or all if it is gone."""
        del self._in_flight[outcome.delivery.id]
        if not outcome.is_internal_error:
            self._learn(outcome)
        if self.health is not ReceiverHealth.FAILING:
            return []
        probes = 0 if outcome.is_gone else 1
        surplus = [self._queued.pop() for _ in range(len(self._queued) - probes)]
        self.has_more |= bool(surplus)
        return surplus

    def remove_canceled(self) -> list[ClaimedDelivery]:
        """Remove queued deliveries that are canceled, and return them."""
        if self.pending.enabled and not self.pending.canceled_at:
            return []
        queued, self._queued = self._queued, deque()
        canceled: list[ClaimedDelivery] = []
        for delivery in queued:
            (canceled if self.is_canceled(delivery) else self._queued).append(delivery)
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
    """Return the secrets that sign now: the current one and, for a while after a rotation, the
    former one."""
    former, until = pending.sealed_former_secret, pending.former_secret_until
    if former is None or until is None or now >= until:
        return (pending.sealed_secret,)
    return pending.sealed_secret, former


def _webhook_destination(pending: PendingWebhook, sealed: tuple[str, ...]) -> Destination | None:
    if not pending.sealed_secret:  # the webhook is deleted
        return None
    try:
        return Destination(pending.url, tuple(unseal(text) for text in sealed))
    except ValueError as error:
        log.error("cannot read the secret of webhook %s: %s", pending.webhook_id, error)
        return None
