"""The main loop of the delivery job: claims due deliveries, has them sent, and saves the outcomes.

Only this thread uses the database and decides; the pool's threads send. The database says what is
due, and wake signals and outcomes only say that it is worth a scan.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from ulid import ULID

from app.db.engines import is_outage
from app.db.transactions import Transaction
from app.outbound import Egress
from app.outbound.switch import is_outbound_off
from app.policy.deliveries import (
    ATTEMPT_SECONDS,
    LINGER_SECONDS,
    QUEUED_SECONDS,
    RUN_SECONDS,
    SWEEP_SECONDS,
)
from app.values import clock
from app.webhooks.deliveries import leases
from app.webhooks.deliveries.due import DueScan
from app.webhooks.deliveries.fair_scheduler import FairScheduler
from app.webhooks.deliveries.metrics import count_attempts
from app.webhooks.deliveries.outcomes import save_outcomes, unsaved_outcomes
from app.webhooks.deliveries.sender_pool import SenderPool
from app.webhooks.deliveries.types import ClaimedDelivery, Outcome

log = logging.getLogger(__name__)


_BATCH: Final = 128  # outcomes to save at a time
BATCH_SECONDS: Final = 0.05  # from the first outcome of a batch until it is saved, at most
_SCAN_INTERVAL: Final = 0.005  # seconds between two scans, at least
_QUEUED_SCAN_INTERVAL: Final = 1.0  # at most, while claimed deliveries wait for their turn
_OUTAGE_PAUSE: Final = 0.5  # seconds between two tries of an unavailable database
_WAIT_SECONDS: Final = 0.5  # between two checks whether to stop, at most
_WAIT_AT_END: Final = 0.05
END_SECONDS: Final = ATTEMPT_SECONDS + 1.0  # for the requests in flight at the end


class Dispatcher:
    """One run of the delivery job.

    Args:
        transaction: context whose statements are one transaction, committed at its end.
        is_stopping: returns True once the worker was asked to stop.
    """

    def __init__(
        self, egress: Egress, transaction: Transaction, is_stopping: Callable[[], bool]
    ) -> None:
        self.delivered = 0
        self._is_off = False  # nothing may be sent any longer
        self._transaction = transaction
        self._is_stopping = is_stopping
        self._run_id = str(ULID()).lower()
        self._inbox: SimpleQueue[Outcome | None] = SimpleQueue()  # None: deliveries may be due
        self._pool = SenderPool(egress, self._inbox.put)
        self._scheduler = FairScheduler()
        self._scan = DueScan(self._run_id, self._scheduler)
        self._must_scan = True
        self._scanned_at = -_SCAN_INTERVAL
        self._unsaved_ids: set[str] = set()  # deliveries in flight, or with an unsaved outcome
        self._outcomes: list[Outcome] = []  # unsaved
        self._may_be_saved = False  # a failed commit may have succeeded
        self._outage_until = 0.0  # when the database is tried again

    @property
    def may_have_more(self) -> bool:
        """True if due deliveries may be left, and may be sent."""
        return self._must_scan and not self._is_off

    def notify(self) -> None:
        """Tell the dispatcher that deliveries may be due. Any thread may call this."""
        self._inbox.put(None)

    def run(self, *, linger: float = LINGER_SECONDS) -> int:
        """Deliver until nothing was due for ``linger`` seconds; with 0, do not wait for retries.
        Returns the number of deliveries that succeeded."""
        began = busy_at = monotonic()
        try:
            while not (self._is_off or self._is_stopping()) and monotonic() - began < RUN_SECONDS:
                if self._run_round():
                    busy_at = monotonic()
                elif monotonic() - busy_at >= linger and not self._is_due_soon(linger):
                    break
                self._wait(self._wait_timeout(busy_at + linger))
        finally:  # after a failure, too, requests are in flight
            self._shut_down()
        return self.delivered

    def _run_round(self) -> bool:
        """Save, scan and send what is possible now. Returns True if there is more to do."""
        if monotonic() >= self._outage_until:
            try:
                self._save_if_due()
                self._scan_if_due()
            except SQLAlchemyError as error:
                self._on_outage(error)
        self._send()
        scheduler = self._scheduler
        return bool(self._must_scan or scheduler.in_flight or scheduler.queued or self._outcomes)

    def _wait(self, seconds: float) -> None:
        """Wait for a message, and process it and those that came after it."""
        try:
            message = self._inbox.get(timeout=max(0.0, seconds))
            while True:
                if message is None:
                    self._must_scan = True
                else:
                    self._on_outcome(message)
                message = self._inbox.get_nowait()
        except Empty:
            return

    def _on_outcome(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self._must_scan |= self._scheduler.on_outcome(outcome)
        self._must_scan |= self._scan.is_over_budget and self._scheduler.queued == 0
        self._send()

    def _send(self) -> None:
        """Begin all requests that may begin now."""
        if self._is_off:
            return
        for queue, delivery in self._scheduler.begin_next():
            self._unsaved_ids.add(delivery.id)
            in_flight = self._scheduler.in_flight
            self._pool.send(delivery, queue.destination, in_flight=in_flight)

    def _wait_timeout(self, ends_at: float) -> float:
        """Return the seconds to wait for a message.

        Args:
            ends_at: end of the run if there is nothing more to do.
        """
        now = monotonic()
        moments = [now + _WAIT_SECONDS]
        if self._outcomes:
            moments.append(now + self._batch_seconds_left())
        elif not self._scheduler.in_flight:
            moments.append(ends_at)
        if self._must_scan:
            moments.append(self._scanned_at + _SCAN_INTERVAL)
        elif self._scan.next_due is not None:
            seconds = (self._scan.next_due - clock.now()).total_seconds()
            moments.append(max(now + seconds, self._scanned_at + _SCAN_INTERVAL))
        return max(min(moments), self._outage_until) - now

    def _is_due_soon(self, linger: float) -> bool:
        """True if a delivery will be due before the next periodic job runs."""
        soon = timedelta(seconds=SWEEP_SECONDS + 1 if linger else 0)
        return self._scan.next_due is not None and self._scan.next_due <= clock.now() + soon

    def _save_if_due(self) -> None:
        if self._outcomes and (
            len(self._outcomes) >= _BATCH
            or self._batch_seconds_left() <= 0
            or not self._scheduler.in_flight
        ):
            self._save()

    def _batch_seconds_left(self) -> float:
        """Return the seconds until the outcomes have to be saved. The first may have waited while
        this thread was busy. A clock that was set back does not prolong the time."""
        return BATCH_SECONDS - abs((clock.now() - self._outcomes[0].ended_at).total_seconds())

    def _save(self) -> None:
        try:
            with self._transaction():
                outcomes = (
                    unsaved_outcomes(self._outcomes) if self._may_be_saved else self._outcomes
                )
                self._must_scan |= save_outcomes(self._run_id, outcomes)
        except Exception as error:
            self._may_be_saved = True
            if is_outage(error):
                raise
            log.exception("cannot record %d attempts at once", len(self._outcomes))
            self._save_by_webhook()
        self._may_be_saved = False
        count_attempts(self._outcomes)
        self._scan.expect_retries(self._outcomes)
        self.delivered += sum(outcome.error is None for outcome in self._outcomes)
        self._unsaved_ids.difference_update(outcome.delivery.id for outcome in self._outcomes)
        self._outcomes = []

    def _save_by_webhook(self) -> None:
        """Save webhook by webhook, so that an outcome that cannot be saved affects no other
        webhook. Its delivery is sent again when the lease expires."""
        by_webhook: defaultdict[str, list[Outcome]] = defaultdict(list)
        for outcome in self._outcomes:
            by_webhook[outcome.delivery.webhook_id].append(outcome)
        for webhook_id, outcomes in by_webhook.items():
            try:
                with self._transaction():
                    self._must_scan |= save_outcomes(self._run_id, unsaved_outcomes(outcomes))
            except Exception as error:
                if is_outage(error):
                    raise
                log.exception("cannot record attempts for webhook %s", webhook_id)

    def _scan_if_due(self) -> None:
        """Claim due deliveries, if there may be any and the last scan was long enough ago."""
        now = clock.now()
        is_due = self._scan.next_due is not None and self._scan.next_due <= now
        if self._scheduler.queued:  # some may have waited too long, and are released
            is_due |= monotonic() - self._scanned_at >= _QUEUED_SCAN_INTERVAL
        if not (self._must_scan or is_due) or monotonic() - self._scanned_at < _SCAN_INTERVAL:
            return
        expired_at = monotonic() - QUEUED_SECONDS
        self._release(self._scheduler.remove_unsent(claimed_before=expired_at))
        self._scanned_at = monotonic()
        numbers, claimed = self._scan.find(now), []
        if numbers or self._scan.has_canceled:
            with self._transaction():
                self._scan.cancel()
                claimed = self._scan.claim(numbers, clock.now())  # the lease begins now
        # After the commit. A delivery in flight whose lease had expired only has a new lease.
        claimed = [row for row in claimed if row.id not in self._unsaved_ids]
        # Asked after the claim, as a restore may have brought these deliveries and the switch.
        self._is_off = is_outbound_off()
        if self._is_off:
            self._release(claimed)
        else:
            self._scheduler.enqueue(claimed)
        self._must_scan = self._scan.is_unfinished
        if not self._must_scan:  # once a round, as it looks at all webhooks
            self._scheduler.forget_idle()

    def _release(self, deliveries: list[ClaimedDelivery]) -> None:
        if deliveries:
            with self._transaction():
                leases.release_deliveries(self._run_id, deliveries)

    def _shut_down(self) -> None:
        """Release claimed deliveries that have not begun, and wait for requests in flight."""
        deadline = monotonic() + END_SECONDS
        queued = self._scheduler.remove_unsent(claimed_before=monotonic())
        self._must_scan |= bool(queued)
        try:
            self._release(queued)
        except SQLAlchemyError as error:  # they are due again when their leases expire
            log.warning("cannot release claimed deliveries: %s", type(error).__name__)
        while (self._scheduler.in_flight or self._outcomes) and monotonic() < deadline:
            self._wait(_WAIT_AT_END)
            try:
                if monotonic() >= self._outage_until:
                    self._save_if_due()
            except SQLAlchemyError as error:
                self._on_outage(error)
        self._pool.close()

    def _on_outage(self, error: SQLAlchemyError) -> None:
        """Try the database again after a pause. Raises errors that are not outages."""
        if not is_outage(error):
            raise error
        if monotonic() - self._outage_until > _OUTAGE_PAUSE:
            log.warning("database unavailable, deliveries retry: %s", type(error).__name__)
        self._outage_until = monotonic() + _OUTAGE_PAUSE
