"""The job that sends deliveries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from app.auth.tenant import select_of_all_accounts
from app.db.due_times import shorten_waits
from app.db.queries import has_rows
from app.db.transactions import transaction
from app.events.outbox import NEW_DELIVERIES
from app.jobs import shutdown
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.models import Delivery
from app.outbound import Egress
from app.outbound.switch import is_outbound_off
from app.policy.deliveries import LONGEST_WAITS, SWEEP_SECONDS
from app.settings.current import current_settings
from app.values import clock
from app.webhooks.deliveries.dispatcher import Dispatcher
from app.webhooks.deliveries.health import forget_warnings
from config import Settings

_SIGNAL_SECONDS: Final = 1.0  # for one wait for a signal
_OUTAGE_SECONDS: Final = 1.0  # between two scans while Valkey is down


def deliver() -> int:
    """Send due deliveries, and those that become due meanwhile. Returns the number of successes."""
    valkey().attempt(NEW_DELIVERIES.begin)
    if is_outbound_off():
        with transaction():
            forget_warnings()
        return 0
    with closing(open_egress(current_settings())) as egress:
        dispatcher = Dispatcher(egress, transaction, shutdown.requested.is_set)
        with _forward_signals(dispatcher, valkey().client):
            delivered = dispatcher.run()
    if dispatcher.may_have_more:  # the run ended by its time limit
        valkey().attempt(NEW_DELIVERIES.notify)
    return delivered


def open_egress(settings: Settings) -> Egress:
    """Make the HTTP client for receivers."""
    return Egress(
        allowed_networks=settings.webhook_allowed_networks,
        ca_bundle=settings.webhook_ca_bundle,
    )


@contextmanager
def _forward_signals(dispatcher: Dispatcher, client: Redis) -> Iterator[None]:
    """Pass wake signals on to the dispatcher in a thread, which ends soon after the block."""
    ended = threading.Event()
    thread = threading.Thread(
        target=_listen_for_signals, args=(dispatcher, client, ended), name="signals", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()


def _listen_for_signals(dispatcher: Dispatcher, client: Redis, ended: threading.Event) -> None:
    """Notify the dispatcher of each signal, or every second while Valkey is down."""
    while not ended.is_set():
        try:
            if NEW_DELIVERIES.wait(client, _SIGNAL_SECONDS):
                dispatcher.notify()
        except (RedisError, OSError):
            ended.wait(_OUTAGE_SECONDS)
            dispatcher.notify()


def shorten_delivery_waits() -> int:
    """Correct deliveries that would wait longer than the schedule says, as after the clock was set
    back. Returns their number."""
    with transaction():
        return shorten_waits(Delivery, LONGEST_WAITS)


def _has_due() -> bool:
    now = clock.now()
    due = select_of_all_accounts(Delivery.id).where(
        Delivery.due_at.is_not(None),  # to use the index of pending ones
        Delivery.due_at <= now,
    )
    return has_rows(due)


JOBS: Final = (
    Job(deliver, every_seconds=SWEEP_SECONDS, signal=NEW_DELIVERIES, is_due=_has_due),
    Job(shorten_delivery_waits, every_seconds=300),
)
