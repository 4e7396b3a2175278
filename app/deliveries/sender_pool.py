"""The threads that send: each takes a parcel, posts it, and tells how it went."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic

from app.deliveries.signing import request_headers, signatures
from app.deliveries.types import GONE, OWN_FAULT, ClaimedDelivery, Destination, Outcome
from app.egress import Egress, EgressError, Timing
from app.policy.deliveries import SENDERS
from app.values import clock

log = logging.getLogger(__name__)


class SenderPool:
    """As many threads as are needed, up to ``SENDERS``."""

    def __init__(self, egress: Egress, tell: Callable[[Outcome], None]) -> None:
        self._egress = egress
        self._tell = tell
        self._work: SimpleQueue[tuple[ClaimedDelivery, Destination | None] | None] = SimpleQueue()
        self._threads = 0
        self._idle = threading.Semaphore(0)

    def send(self, parcel: ClaimedDelivery, destination: Destination | None) -> None:
        """Have a parcel sent as soon as a thread is free. It is tried once, whatever happens."""
        if not self._idle.acquire(blocking=False) and self._threads < SENDERS:
            self._threads += 1
            threading.Thread(target=self._run, name="sender", daemon=True).start()
        self._work.put((parcel, destination))

    def close(self) -> None:
        """Let the threads end, each after what it has in hand."""
        for _ in range(self._threads):
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            self._tell(attempt(self._egress, *work))
            self._idle.release()


def attempt(egress: Egress, parcel: ClaimedDelivery, destination: Destination | None) -> Outcome:
    """Send a parcel once. Never raises: what goes wrong is the outcome."""
    sent_at, began = clock.now(), monotonic()
    status, timing, error = None, Timing(None, None, None, None), None
    if destination is None:
        return Outcome(parcel, "", sent_at, sent_at, 0.0, timing, None, OWN_FAULT)
    try:
        body = parcel.body.encode()
        headers = request_headers(parcel.event_id, parcel.event_type, parcel.id, sent_at)
        headers |= signatures(destination.secrets, parcel.event_id, sent_at, body)
        status, timing = egress.post(destination.url, body, headers)
        error = fault_of(status)
    except EgressError as failed:
        timing, error = failed.timing, str(failed.trouble)
    except Exception:
        log.exception("delivery %s could not be attempted", parcel.id)
        error = OWN_FAULT
    seconds = monotonic() - began
    return Outcome(parcel, destination.url, sent_at, clock.now(), seconds, timing, status, error)


def fault_of(status: int) -> str | None:
    """What is wrong with an answer of this status; None for 2xx."""
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return f"answered {status}; redirects are not followed"
    if status == GONE:
        return f"answered {status}; the webhook is disabled"
    return f"answered {status}"
