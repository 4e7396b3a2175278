"""A look at what is due: which webhooks something waits for, and what is taken of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from time import monotonic
from typing import Final

from app.deliveries import leases
from app.deliveries.leases import PendingWebhook
from app.deliveries.scheduler import FairScheduler
from app.deliveries.types import ClaimedDelivery
from app.deliveries.webhook_queue import WebhookQueue

_DOUBTFUL_AT_ONCE: Final = 32  # webhooks that are not known to answer
_AGAIN: Final = timedelta(seconds=0.1)  # when there was no room for what is due

Wanted = dict[str, int]  # by the id of the webhook, how many deliveries to claim


class DueScan:
    """Looks go round all webhooks that something waits for, some at a time."""

    def __init__(self, run: str, rotation: FairScheduler) -> None:
        self.next_due: datetime | None = None  # of what was not due, or had no room, in this round
        self.is_unfinished = False  # whether there is more to find, or to cancel
        self.had_no_room = False  # whether more was due than may be held at once
        self._run = run
        self._rotation = rotation
        self._after = ""  # where the next look begins
        self._later: list[datetime] = []  # when something is due, in this round
        self._disabled: list[PendingWebhook] = []  # and perhaps enabled again
        self._dropped: list[ClaimedDelivery] = []

    @property
    def has_canceled(self) -> bool:
        """Whether something that was found is not to be sent any more."""
        return bool(self._disabled or self._dropped)

    def find(self, now: datetime) -> Wanted:
        """Find webhooks that something is due for, beginning where the last look ended."""
        found, self._after = leases.find_due_webhooks(self._after)
        self.is_unfinished = bool(self._after)
        self._disabled = [waiting for waiting in found if waiting.canceled_at is not None]
        self._later += [waiting.due_at for waiting in found if waiting.due_at > now]
        courses = [self._rotation.see(waiting, now) for waiting in found]
        self._dropped = self._rotation.take_canceled()
        wanted = self._wanted([course for course in courses if course and course.has_more], now)
        if not self._after:
            self.next_due = min(self._later, default=None)
            self._later = []
        return wanted

    def cancel(self) -> None:
        """Cancel what waits for webhooks that were disabled since."""
        leases.cancel(self._run, self._dropped)
        for waiting in self._disabled:
            self.is_unfinished |= leases.cancel_before(waiting)

    def claim(self, wanted: Wanted, now: datetime) -> list[ClaimedDelivery]:
        """Take what is wanted, cancel what is not to be sent any more, and return the rest."""
        parcels = leases.claim(self._run, wanted, now)
        canceled = [parcel for parcel in parcels if self._course(parcel).is_canceled(parcel)]
        leases.cancel(self._run, canceled)
        dropped = {parcel.id for parcel in canceled}
        self._note_claimed(wanted, parcels)
        self.is_unfinished |= bool(canceled)
        return [parcel for parcel in parcels if parcel.id not in dropped]

    def _wanted(self, due: Iterable[WebhookQueue], now: datetime) -> Wanted:
        """How many to claim for each. Of the doubtful ones those come first that had no turn for
        long, so that each has one however many they are."""
        allowance = self._rotation.allowance()
        wanted: Wanted = {}
        answering = [course for course in due if course.standing.answers]
        doubtful = [c for c in due if not c.standing.answers and not c.is_active]
        doubtful.sort(key=lambda course: course.claimed_at)
        self.had_no_room = False
        for course in (*answering, *islice(doubtful, _DOUBTFUL_AT_ONCE)):
            number = allowance.claim(course)
            self.had_no_room |= allowance.is_missing(course, number)
            if number:
                wanted[course.waiting.webhook_id] = number
        if self.had_no_room:
            self._later.append(now + _AGAIN)
        elif len(doubtful) > _DOUBTFUL_AT_ONCE:
            self.is_unfinished = True
        return wanted

    def _note_claimed(self, wanted: Wanted, parcels: Iterable[ClaimedDelivery]) -> None:
        """Who gave as many as were wanted may have more."""
        numbers = Counter(parcel.webhook_id for parcel in parcels)
        for webhook_id, number in wanted.items():
            course = self._rotation.get(webhook_id)
            course.has_more = numbers[webhook_id] >= number
            course.claimed_at = monotonic()

    def _course(self, parcel: ClaimedDelivery) -> WebhookQueue:
        return self._rotation.get(parcel.webhook_id)
