"""The values that the parts of the delivery job pass to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Final, NamedTuple

from app.outbound import Timing
from app.policy.deliveries import RETRY_AFTER

TRIED_ONCE: Final = ("test", "redelivery")  # causes
GONE: Final = 410
INTERNAL_ERROR: Final = "an internal error of the service"  # as the log shows it


class PendingWebhook(NamedTuple):
    """A webhook with pending deliveries, as it is in the database now."""

    webhook_id: str
    account_id: str
    url: str
    enabled: bool
    sealed_secret: str  # "" once the webhook is deleted
    sealed_former_secret: str | None
    former_secret_until: datetime | None
    last_success_at: datetime | None
    consecutive_failures: int
    canceled_at: datetime | None
    due_at: datetime  # of the delivery that is due first


@dataclass(frozen=True, slots=True, eq=False)
class ClaimedDelivery:
    """A delivery that this worker has claimed."""

    id: str
    account_id: str
    webhook_id: str
    event_id: str
    event_type: str
    body: str
    cause: str
    attempt: int  # the number of the next attempt, from 1
    due_at: datetime  # before it was claimed
    created_at: datetime
    claimed_at: float = field(default_factory=monotonic)


class Destination(NamedTuple):
    """The URL of a webhook, and the secrets that sign its requests."""

    url: str
    secrets: tuple[str, ...]  # the current one first


class Outcome(NamedTuple):
    """The result of one attempt. ``error`` is None when it was delivered."""

    delivery: ClaimedDelivery
    url: str
    sent_at: datetime
    ended_at: datetime
    seconds: float
    timing: Timing
    status: int | None  # of the response, if there was one
    error: str | None

    @property
    def is_gone(self) -> bool:
        """True if the receiver answered 410 Gone."""
        return self.status == GONE

    @property
    def is_last(self) -> bool:
        """True if the delivery is not tried again if this attempt failed: the schedule has ended, a
        test or redelivery was sent, or the receiver answered 410."""
        return self.delivery.cause in TRIED_ONCE or self.gives_up

    @property
    def gives_up(self) -> bool:
        """True if all attempts that an event gets were made, or the receiver answered 410."""
        return self.delivery.attempt > len(RETRY_AFTER) or self.is_gone

    @property
    def is_internal_error(self) -> bool:
        """True if the attempt failed on our side, so that it says nothing about the receiver."""
        return self.error == INTERNAL_ERROR
