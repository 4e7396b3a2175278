"""The jobs of webhooks: deliveries, and replays."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from flask import current_app
from redis import Redis
from redis.exceptions import RedisError

from app.core import stopping
from app.core.bells import DELIVERIES_BELL
from app.core.egress import Egress
from app.core.store import store
from app.extensions import db
from app.webhooks.delivery.drain import Drain
from app.webhooks.replaying import due_replays, queue_next
from config import Settings

log = logging.getLogger(__name__)

_LISTEN_SECONDS: Final = 1.0
_STORE_AWAY_SECONDS: Final = 1.0


def deliver() -> int:
    """Send what is due, and what becomes due meanwhile. Returns how many were received."""
    client = store().client
    DELIVERIES_BELL.begin(client)
    with closing(open_egress(current_app.config["SETTINGS"])) as egress:
        drain = Drain(egress, transaction, stopping.is_asked)
        with _passing_the_bell_on(drain, client):
            received = drain.run()
    if drain.may_have_more:  # time is over
        DELIVERIES_BELL.ring(client)
    return received


def queue_replays() -> int:
    """Queue the next events of the past that are to be sent again. Returns how many."""
    queued = 0
    for replay_id in due_replays():
        with transaction():
            queued += queue_next(replay_id)
    return queued


def open_egress(settings: Settings) -> Egress:
    """The way out to receivers."""
    return Egress(
        allowed_networks=settings.webhook_allowed_networks,
        ca_bundle=settings.webhook_ca_bundle,
    )


@contextmanager
def transaction() -> Iterator[None]:
    """Statements that are committed together, or not at all."""
    try:
        yield
        db.session.commit()
    finally:
        db.session.rollback()


@contextmanager
def _passing_the_bell_on(drain: Drain, client: Redis) -> Iterator[None]:
    """A thread that listens for the bell, until a moment after the end."""
    ended = threading.Event()
    listening = threading.Thread(
        target=_listen, args=(drain, client, ended), name="bell", daemon=True
    )
    listening.start()
    try:
        yield
    finally:
        ended.set()


def _listen(drain: Drain, client: Redis, ended: threading.Event) -> None:
    """While the store is away the drain looks every second."""
    while not ended.is_set():
        try:
            if DELIVERIES_BELL.wait(client, _LISTEN_SECONDS):
                drain.ring()
        except (RedisError, OSError):
            ended.wait(_STORE_AWAY_SECONDS)
            drain.ring()
