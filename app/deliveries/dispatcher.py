"""The delivery job at work: it claims what is due, has it sent, and writes down how it went.

One thread, this one, asks the database and decides; the senders' threads only send. The database
says what is due. The bell, and every outcome, only say that now is a moment to look.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from ulid import ULID

from app.db.engines import is_outage
from app.deliveries import leases
from app.deliveries.attempts import unwritten
from app.deliveries.due import DueScan
from app.deliveries.metrics import record_metrics
from app.deliveries.outcomes import record_outcomes
from app.deliveries.scheduler import FairScheduler
from app.deliveries.sender_pool import SenderPool
from app.deliveries.types import ClaimedDelivery, Outcome
from app.egress import Egress
from app.policy.deliveries import (
    ATTEMPT_SECONDS,
    HELD_SECONDS,
    LINGER_SECONDS,
    RUN_SECONDS,
    SWEEP_SECONDS,
)
from app.values import clock

log = logging.getLogger(__name__)

Transaction = Callable[[], AbstractContextManager[None]]

_WRITE_AT_ONCE: Final = 128  # outcomes
_WRITE_WITHIN: Final = 0.05  # seconds after the first of them
_LOOK_EVERY: Final = 0.005  # seconds, at most, however many signals come
_PAUSE: Final = 0.5  # seconds, while the database is out of reach
_LISTENS_AT_MOST: Final = 0.5  # seconds, before it looks whether it is asked to stop
_END_LISTENS: Final = 0.05
_END_WITHIN: Final = ATTEMPT_SECONDS + 1.0  # seconds that what is under way has at the end


class Dispatcher:
    """One run of the delivery job.

    Args:
        transaction: a context whose statements are one transaction, committed at its end.
        is_stopping: whether the worker was asked to end.
    """

    def __init__(
        self, egress: Egress, transaction: Transaction, is_stopping: Callable[[], bool]
    ) -> None:
        self.received = 0
        self._transaction = transaction
        self._is_stopping = is_stopping
        self._run_id = str(ULID()).lower()
        self._told: SimpleQueue[Outcome | None] = SimpleQueue()
        self._senders = SenderPool(egress, self._told.put)
        self._rotation = FairScheduler()
        self._look = DueScan(self._run_id, self._rotation)
        self._done: list[Outcome] = []
        self._done_since = 0.0
        self._is_in_doubt = False  # whether it was written down when that failed last
        self._looked_at = -_LOOK_EVERY
        self._must_look = True
        self._away_until = 0.0  # when the database is asked again that was out of reach

    @property
    def may_have_more(self) -> bool:
        """Whether something may be due that was left."""
        return self._must_look

    def notify(self) -> None:
        """Something may be due. Any thread may call this."""
        self._told.put(None)

    def run(self, *, linger: float = LINGER_SECONDS) -> int:
        """Deliver until nothing was due for ``linger`` seconds; with 0 nothing is waited for that
        is due later. Returns how many deliveries were received."""
        began = busy = monotonic()
        while not self._is_stopping() and monotonic() - began < RUN_SECONDS:
            if self._work():
                busy = monotonic()
            elif monotonic() - busy >= linger and not self._is_due_soon(linger):
                break
            self._listen(self._patience(busy + linger))
        self._finish()
        return self.received

    def _work(self) -> bool:
        """One round. Returns whether there is anything to do."""
        if monotonic() >= self._away_until:
            try:
                self._write_if_time()
                self._look_if_useful()
            except SQLAlchemyError as error:
                self._note_outage(error)
        self._send()
        rotation = self._rotation
        return bool(self._must_look or rotation.under_way or rotation.ready or self._done)

    def _listen(self, seconds: float) -> None:
        """Wait for an outcome or the bell, and take all that have come."""
        try:
            told = self._told.get(timeout=max(0.0, seconds))
            while True:
                self._take(told)
                told = self._told.get_nowait()
        except Empty:
            return

    def _take(self, told: Outcome | None) -> None:
        if told is None:
            self._must_look = True
            return
        if not self._done:
            self._done_since = monotonic()
        self._done.append(told)
        self._must_look |= self._rotation.note(told)
        self._must_look |= self._look.had_no_room and self._rotation.ready == 0
        self._send()

    def _send(self) -> None:
        """Begin what may begin."""
        for course, parcel in self._rotation.next():
            self._senders.send(parcel, course.destination)

    def _patience(self, ends_at: float) -> float:
        """How many seconds to wait for something to happen.

        Args:
            ends_at: when the run ends, if there is nothing more to do.
        """
        now = monotonic()
        moments = [now + _LISTENS_AT_MOST]
        if self._done:
            moments.append(self._done_since + _WRITE_WITHIN)
        elif not self._rotation.under_way:
            moments.append(ends_at)
        if self._must_look:
            moments.append(self._looked_at + _LOOK_EVERY)
        elif self._look.next_due is not None:
            rest = (self._look.next_due - clock.now()).total_seconds()
            moments.append(max(now + rest, self._looked_at + _LOOK_EVERY))
        return max(min(moments), self._away_until) - now

    def _is_due_soon(self, linger: float) -> bool:
        """Whether something will be due before the next job looks that nobody woke."""
        soon = timedelta(seconds=SWEEP_SECONDS + 1 if linger else 0)
        return self._look.next_due is not None and self._look.next_due <= clock.now() + soon

    def _write_if_time(self) -> None:
        if self._done and (
            len(self._done) >= _WRITE_AT_ONCE
            or monotonic() - self._done_since >= _WRITE_WITHIN
            or not self._rotation.under_way
        ):
            self._write()

    def _write(self) -> None:
        try:
            with self._transaction():
                done = unwritten(self._done) if self._is_in_doubt else self._done
                self._must_look |= record_outcomes(self._run_id, done)
        except Exception as error:
            self._is_in_doubt = True  # it may have been committed all the same
            if is_outage(error):
                raise
            log.exception("some of %d attempts cannot be written down", len(self._done))
            self._write_apart()
        self._is_in_doubt = False
        record_metrics(self._done)
        self.received += sum(outcome.error is None for outcome in self._done)
        self._done = []

    def _write_apart(self) -> None:
        """Write what can be written, webhook by webhook. What cannot is sent again when its claim
        ends, and keeps nobody else's from being written."""
        of_webhooks: defaultdict[str, list[Outcome]] = defaultdict(list)
        for outcome in self._done:
            of_webhooks[outcome.parcel.webhook_id].append(outcome)
        for webhook_id, outcomes in of_webhooks.items():
            try:
                with self._transaction():
                    self._must_look |= record_outcomes(self._run_id, unwritten(outcomes))
            except Exception as error:
                if is_outage(error):
                    raise
                log.exception("attempts for webhook %s are not written down", webhook_id)

    def _look_if_useful(self) -> None:
        """Look for what is due, when there may be some, room for it, and the last look is over."""
        now = clock.now()
        is_due = self._look.next_due is not None and self._look.next_due <= now
        if not (self._must_look or is_due) or monotonic() - self._looked_at < _LOOK_EVERY:
            return
        self._give_back(self._rotation.take_back(claimed_before=monotonic() - HELD_SECONDS))
        self._looked_at = monotonic()
        wanted = self._look.find(now)
        if wanted or self._look.has_canceled:
            with self._transaction():
                self._look.cancel()
                parcels = self._look.claim(wanted, now)
            self._rotation.add(parcels)  # not before they are claimed for good
        self._must_look = self._look.is_unfinished
        self._rotation.forget_idle()

    def _give_back(self, parcels: list[ClaimedDelivery]) -> None:
        if parcels:
            with self._transaction():
                leases.give_back(self._run_id, parcels)

    def _finish(self) -> None:
        """Leave to others what has not begun, and wait for what has."""
        deadline = monotonic() + _END_WITHIN
        left = self._rotation.take_back(claimed_before=monotonic())
        self._must_look |= bool(left)
        try:
            self._give_back(left)
        except SQLAlchemyError as error:  # it is due again as soon as its claim ends
            self._note_outage(error)
        while (self._rotation.under_way or self._done) and monotonic() < deadline:
            if self._done and monotonic() >= self._away_until and not self._rotation.under_way:
                try:
                    self._write()
                except SQLAlchemyError as error:
                    self._note_outage(error)
            else:
                self._listen(_END_LISTENS)
        self._senders.close()

    def _note_outage(self, error: SQLAlchemyError) -> None:
        """The database is asked again in a while. Raises what is no outage."""
        if not is_outage(error):
            raise error
        if monotonic() - self._away_until > _PAUSE:
            log.warning("deliveries wait for the database: %s", type(error).__name__)
        self._away_until = monotonic() + _PAUSE
