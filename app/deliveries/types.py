"""What goes to a receiver, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Final, NamedTuple

from app.egress import Timing

GONE: Final = 410
OWN_FAULT: Final = "a fault of the service"


@dataclass(frozen=True, slots=True, eq=False)
class ClaimedDelivery:
    """A delivery that this worker has claimed."""

    id: str
    account_id: str
    webhook_id: str
    event_id: str
    event_type: str
    event_created_at: datetime
    body: str
    cause: str
    attempt: int  # the number of the one to come, from 1
    due_at: datetime  # before it was claimed
    created_at: datetime
    claimed_at: float = field(default_factory=monotonic)


class Destination(NamedTuple):
    """Where a webhook's parcels go, and what they are signed with."""

    url: str
    secrets: tuple[str, ...]  # the present one first


class Outcome(NamedTuple):
    """How an attempt went. ``error`` is None when it was received."""

    parcel: ClaimedDelivery
    url: str
    sent_at: datetime
    ended_at: datetime
    seconds: float
    timing: Timing
    status: int | None  # of the answer, when there was one
    error: str | None

    @property
    def is_gone(self) -> bool:
        """Whether the receiver says that there is none any more."""
        return self.status == GONE

    @property
    def is_own_fault(self) -> bool:
        """Whether the receiver had nothing to do with it."""
        return self.error == OWN_FAULT
