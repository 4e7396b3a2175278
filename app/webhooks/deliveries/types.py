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
INTERNAL_ERROR: Final = "an internal error of the service"  # shown in the log


class PendingWebhook(NamedTuple):
    """A webhook with pending deliveries, as read from the database."""

    webhook_id: str
    account_id: str
    url: str
    enabled: bool
    sealed_secret: str  # "" if the webhook is deleted
    sealed_former_secret: str | None
    former_secret_until: datetime | None
    last_success_at: datetime | None
    consecutive_failures: int
    canceled_at: datetime | None
    due_at: datetime  # the first due time of its deliveries


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
    attempt: int  # number of the next attempt, from 1
    due_at: datetime  # before the claim
    created_at: datetime
    claimed_at: float = field(default_factory=monotonic)


class Destination(NamedTuple):
    """The URL of a webhook, and the secrets that sign its requests."""

    url: str
    secrets: tuple[str, ...]  # the current one first


class Outcome(NamedTuple):
    """The result of one attempt."""

    delivery: ClaimedDelivery
    url: str
    sent_at: datetime
    ended_at: datetime
    seconds: float
    timing: Timing
    status: int | None  # None: there was no response
    error: str | None  # None: it was delivered

    @property
    def is_gone(self) -> bool:
        """True if the receiver answered 410 Gone."""
        return self.status == GONE

    @property
    def is_last(self) -> bool:
        """True if there is no retry after this attempt: it was a test or redelivery, the last of
        the schedule, or the receiver answered 410."""
        return self.delivery.cause in TRIED_ONCE or self.gives_up

    @property
    def gives_up(self) -> bool:
        """True if the schedule has ended, or the receiver answered 410."""
        return self.delivery.attempt > len(RETRY_AFTER) or self.is_gone

    @property
    def is_internal_error(self) -> bool:
        """True if the service failed, so that the attempt says nothing about the receiver."""
        return self.error == INTERNAL_ERROR
