"""The job that sends deliveries."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from flask import current_app
from redis import Redis
from redis.exceptions import RedisError

from app.db.transactions import transaction
from app.deliveries.dispatcher import Dispatcher
from app.egress import Egress
from app.jobs import shutdown
from app.jobs.registry import Job
from app.jobs.valkey import valkey
from app.outbox import NEW_DELIVERIES
from app.policy.deliveries import SWEEP_SECONDS
from config import Settings

log = logging.getLogger(__name__)

_LISTEN_SECONDS: Final = 1.0
_VALKEY_AWAY_SECONDS: Final = 1.0


def deliver() -> int:
    """Send what is due, and what becomes due meanwhile. Returns how many were received."""
    client = valkey().client
    NEW_DELIVERIES.begin(client)
    with closing(open_egress(current_app.config["SETTINGS"])) as egress:
        dispatcher = Dispatcher(egress, transaction, shutdown.is_requested)
        with _passing_signals_on(dispatcher, client):
            received = dispatcher.run()
    if dispatcher.may_have_more:  # time is over
        NEW_DELIVERIES.notify(client)
    return received


def open_egress(settings: Settings) -> Egress:
    """The way out to receivers."""
    return Egress(
        allowed_networks=settings.webhook_allowed_networks,
        ca_bundle=settings.webhook_ca_bundle,
    )


@contextmanager
def _passing_signals_on(dispatcher: Dispatcher, client: Redis) -> Iterator[None]:
    """A thread that listens for signals, until a moment after the end."""
    ended = threading.Event()
    listening = threading.Thread(
        target=_listen, args=(dispatcher, client, ended), name="signals", daemon=True
    )
    listening.start()
    try:
        yield
    finally:
        ended.set()


def _listen(dispatcher: Dispatcher, client: Redis, ended: threading.Event) -> None:
    """While Valkey is away the dispatcher looks every second."""
    while not ended.is_set():
        try:
            if NEW_DELIVERIES.wait(client, _LISTEN_SECONDS):
                dispatcher.notify()
        except (RedisError, OSError):
            ended.wait(_VALKEY_AWAY_SECONDS)
            dispatcher.notify()


JOBS: Final = (Job(deliver, every_seconds=SWEEP_SECONDS, signal=NEW_DELIVERIES),)
