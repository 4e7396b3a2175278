"""The threads that send deliveries, one attempt at a time each."""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from time import monotonic

from app.outbound import Egress, EgressError, Timing
from app.policy.deliveries import SENDERS
from app.security.webhook_signing import delivery_headers, signature_headers
from app.values import clock
from app.webhooks.deliveries.types import (
    GONE,
    INTERNAL_ERROR,
    ClaimedDelivery,
    Destination,
    Outcome,
)

log = logging.getLogger(__name__)


class SenderPool:
    """A pool of up to ``SENDERS`` threads, started as needed.

    Args:
        on_outcome: called after each attempt, in the thread that made it.
    """

    def __init__(self, egress: Egress, on_outcome: Callable[[Outcome], None]) -> None:
        self._egress = egress
        self._on_outcome = on_outcome
        self._work: SimpleQueue[tuple[ClaimedDelivery, Destination | None] | None] = SimpleQueue()
        self._threads = 0

    def send(
        self, delivery: ClaimedDelivery, destination: Destination | None, *, in_flight: int
    ) -> None:
        """Send a delivery once, as soon as a thread is free.

        Args:
            in_flight: number of requests in flight, with this one.
        """
        if self._threads < min(in_flight, SENDERS):
            self._threads += 1
            Thread(target=self._run, name="sender", daemon=True).start()
        self._work.put((delivery, destination))

    def close(self) -> None:
        """End the threads, each after its current attempt."""
        for _ in range(self._threads):
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            self._on_outcome(attempt_delivery(self._egress, *work))


def attempt_delivery(
    egress: Egress, delivery: ClaimedDelivery, destination: Destination | None
) -> Outcome:
    """Send a delivery once. Returns errors in the outcome, and raises none."""
    sent_at, started_at = clock.now(), monotonic()
    status, timing, error = None, Timing(), None
    if destination is None:
        return Outcome(delivery, "", sent_at, sent_at, 0.0, timing, None, INTERNAL_ERROR)
    try:
        body = delivery.body.encode()
        headers = delivery_headers(delivery.event_id, delivery.event_type, delivery.id, sent_at)
        headers |= signature_headers(destination.secrets, delivery.event_id, sent_at, body)
        status, timing = egress.post(destination.url, body, headers)
        error = status_error(status)
    except EgressError as failure:
        timing, error = failure.timing, str(failure.reason)
    except Exception:
        log.exception("attempt of delivery %s failed", delivery.id)
        error = INTERNAL_ERROR
    seconds = monotonic() - started_at
    return Outcome(delivery, destination.url, sent_at, clock.now(), seconds, timing, status, error)


def status_error(status: int) -> str | None:
    """Return the error for a response with this status; None for 2xx."""
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return f"answered {status}; redirects are not followed"
    if status == GONE:
        return f"answered {status}; the webhook is disabled"
    return f"answered {status}"
