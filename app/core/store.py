"""The shared store (Valkey or Redis): counters that all processes agree on, and the job queue.

The service goes on without it. ``attempt`` runs a command and answers None when the store fails;
after a failure it is left alone for a second, so that a store that hangs costs one short wait a
second and not one a request. One line is logged when an outage begins and one when it ends.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Flask, current_app
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)

T = TypeVar("T")

TIMEOUT_SECONDS: Final = 0.25
PAUSE_SECONDS: Final = 1.0


class Store:
    """A client that never makes a request fail, and seldom makes it wait."""

    def __init__(self, resolve_url: Callable[[], str]) -> None:
        self._resolve_url = resolve_url
        self._client: Redis | None = None
        self._down_since: float | None = None
        self._try_again_at = 0.0
        self._own = threading.local()

    @property
    def client(self) -> Redis:
        """The client itself, for jobs, which may fail and be tried again."""
        client = self._client  # looked at once: another thread may drop it meanwhile
        if client is None:
            client = self._client = connect(self._resolve_url())
        return client

    @property
    def is_down(self) -> bool:
        return self._down_since is not None

    def ask(self, *command: Any) -> Any:
        """The answer to one command, or None as in ``attempt``; for what every request asks.

        Each thread has a connection of its own: the client's pool and its retries cost as much as
        the command.
        """
        return self.attempt(lambda client: self._on_own_connection(client, command))

    def _on_own_connection(self, client: Redis, command: tuple[Any, ...]) -> Any:
        connection = getattr(self._own, "connection", None)
        if connection is None or self._own.process != os.getpid():
            connection = client.connection_pool.make_connection()
            self._own.connection, self._own.process = connection, os.getpid()
        try:
            connection.send_command(*command, check_health=False)
            return connection.read_response()
        except RedisError:
            connection.disconnect()
            raise

    def attempt(self, command: Callable[[Redis], T]) -> T | None:
        """The result of ``command``, or None when the store fails or is known to be down."""
        if self._down_since is not None and time.monotonic() < self._try_again_at:
            return None
        try:
            result = command(self.client)
        except (RedisError, OSError) as error:
            self._failed(error)
            return None
        if self._down_since is not None:
            self._recovered()
        return result

    def _failed(self, error: Exception) -> None:
        moment = time.monotonic()
        self._try_again_at = moment + PAUSE_SECONDS
        self._client = None  # the next try asks for the address again, which may start the server
        if self._down_since is None:
            self._down_since = moment
            log.error("the store is down: %s: %s", type(error).__name__, error)

    def _recovered(self) -> None:
        began, self._down_since = self._down_since, None
        if began is not None:
            log.warning("the store is back after %.1f s", time.monotonic() - began)


def connect(url: str) -> Redis:
    """A client with short timeouts and without redis-py's own retries."""
    return Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


def init_app(app: Flask, resolve_url: Callable[[], str]) -> None:
    """Give ``app`` its store; nothing is connected, or started, before the first use."""
    app.extensions["canopy_store"] = Store(resolve_url)


def store() -> Store:
    """The application's store."""
    found: Store = current_app.extensions["canopy_store"]
    return found
