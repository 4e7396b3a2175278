"""How each receiver is treated: one that answers well, one not tried yet, one that fails."""

from __future__ import annotations

import logging
from collections import deque
from datetime import datetime
from enum import IntEnum, auto
from time import monotonic
from typing import Final

from app.deliveries.leases import PendingWebhook
from app.deliveries.types import ClaimedDelivery, Destination, Outcome
from app.policy.deliveries import PER_WEBHOOK, SLOW_SECONDS, SUSPECT_AFTER
from app.security.sealing import unseal

log = logging.getLogger(__name__)

_ROUNDS_CLAIMED: Final = 8  # of requests to one that answers
_CLAIMED_OF_DOUBTFUL: Final = 2
_LATE_SECONDS: Final = 0.5
_FORGETTING: Final = 0.9  # of how long attempts took, at each that is quicker


class ReceiverHealth(IntEnum):
    """What is known of a receiver."""

    GOOD = auto()  # it answered well the last time
    SLOW = auto()  # likewise, but it took its time
    UNTRIED = auto()  # nothing yet, or a failure or two
    SUSPECT = auto()  # it hung, or failed several times in a row

    @property
    def answers(self) -> bool:
        return self <= ReceiverHealth.SLOW


class WebhookQueue:
    """A webhook in the eyes of this worker, with what was claimed for it."""

    def __init__(self, waiting: PendingWebhook) -> None:
        self.waiting = waiting
        self.destination: Destination | None = (
            None  # None: its secret cannot be read, or was not yet
        )
        self._destination_from: tuple[object, ...] = ()
        self.ready: deque[ClaimedDelivery] = deque()
        self.begun: dict[str, float] = {}  # by delivery, when its request began; the oldest first
        self.is_listed = False  # among those whose turn comes
        self.has_more = True  # whether more may be due than was claimed
        self.claimed_at = 0.0  # monotonic, like the next one
        self.seen_at = 0.0  # when something was due for it
        self._failures = waiting.consecutive_failures
        self._was_slow = False
        self._seconds = 0.0  # that an attempt takes, of late
        self.standing = self._judged(has_succeeded=waiting.last_success_at is not None)

    @property
    def is_active(self) -> bool:
        return bool(self.ready or self.begun)

    @property
    def under_way(self) -> int:
        return len(self.begun)

    @property
    def is_late(self) -> bool:
        """Whether an answer is awaited for so long that no more requests should wait beside it."""
        return bool(self.begun) and monotonic() - next(iter(self.begun.values())) > _LATE_SECONDS

    def see(self, waiting: PendingWebhook, now: datetime) -> None:
        """Take up what the database says of it now."""
        self.waiting, self.has_more = waiting, waiting.due_at <= now
        if self.has_more:
            self.seen_at = monotonic()
        sealed = _sealed_secrets(waiting, now)
        if (waiting.url, sealed) != self._destination_from:  # reading a secret takes a while
            self._destination_from = (waiting.url, sealed)
            self.destination = _destination(waiting, sealed)

    def limit(self, share: int) -> int:
        """How many requests may be under way at once, when each receiver's share is so many."""
        if not self.standing.answers or self.is_late:
            return 1
        return max(1, min(PER_WEBHOOK, share))

    def wanted(self, share: int) -> int:
        """How many more deliveries to claim now: what it takes in a second or less."""
        if self.standing.answers:
            rounds = min(_ROUNDS_CLAIMED, 1.0 / max(self._seconds, 0.001))
            most = int(self.limit(share) * max(1.0, rounds))
            missing = most - len(self.ready)
            return missing if missing * 2 >= most else 0
        if self.is_active:
            return 0
        return 1 if self._was_slow else _CLAIMED_OF_DOUBTFUL

    def is_canceled(self, parcel: ClaimedDelivery) -> bool:
        """Whether the webhook was disabled since, or deleted; a test is sent all the same."""
        canceled_at = self.waiting.canceled_at
        if canceled_at is not None and parcel.created_at <= canceled_at:
            return True
        return not self.waiting.enabled and parcel.cause != "test"

    def note(self, outcome: Outcome) -> None:
        """Learn from an attempt."""
        if outcome.is_own_fault:
            return
        if outcome.error is None:
            self._failures = 0
        else:
            self._failures += SUSPECT_AFTER if outcome.is_gone else 1
        self._was_slow = outcome.seconds >= SLOW_SECONDS
        self._seconds = max(outcome.seconds, self._seconds * _FORGETTING)
        self.standing = self._judged(has_succeeded=outcome.error is None)

    def _judged(self, *, has_succeeded: bool) -> ReceiverHealth:
        if self._failures == 0 and has_succeeded:
            return ReceiverHealth.SLOW if self._was_slow else ReceiverHealth.GOOD
        if self._was_slow or self._failures >= SUSPECT_AFTER:
            return ReceiverHealth.SUSPECT
        return ReceiverHealth.UNTRIED


def _sealed_secrets(waiting: PendingWebhook, now: datetime) -> tuple[str, ...]:
    """What signs now: the present secret, and the former one for a while."""
    former, until = waiting.sealed_former_secret, waiting.former_secret_until
    if former is None or until is None or now >= until:
        return (waiting.sealed_secret,)
    return waiting.sealed_secret, former


def _destination(waiting: PendingWebhook, sealed: tuple[str, ...]) -> Destination | None:
    """Where the parcels go, with what signs them."""
    if not waiting.sealed_secret:  # it was deleted
        return None
    try:
        return Destination(waiting.url, tuple(unseal(text) for text in sealed))
    except ValueError as error:
        log.error("the secret of webhook %s cannot be read: %s", waiting.webhook_id, error)
        return None
