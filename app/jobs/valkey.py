"""Valkey, or Redis: the counters that all processes share, and the job queue.

The service works without it. ``attempt`` runs a command, and returns None when Valkey fails. After
a failure no request uses it until a thread, which probes it every half second, has written to it.
So a server that hangs costs each thread one short wait per outage, and one that is full or
read-only counts as down. One line is logged at the beginning of an outage, and one at its end.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Flask, current_app
from prometheus_client import Counter
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeout
from redis.retry import Retry

from app.jobs.valkey_client import leads_elsewhere, make_client
from app.policy.metrics import describe_metric
from config import Settings, SettingsError

log = logging.getLogger(__name__)

T = TypeVar("T")

TIMEOUT_SECONDS: Final = 0.25
PROBE_INTERVAL: Final = 0.5
_OUTAGES: Final = Counter(*describe_metric("canopy_valkey_outages_total"))
_PROBE: Final = "canopy:probe"
_PROBE_SECONDS: Final = 60  # lifetime of the probe's key


class Script:
    """A Lua script, which Valkey caches by its SHA-1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = _script_digest(text)


class Valkey:
    """A client that never fails a request, and rarely delays it."""

    def __init__(self, resolve_url: Callable[[], str]) -> None:
        self._resolve_url = resolve_url
        self._client: Redis | None = None
        self._down_since: float | None = None
        self.outages = 0
        self._probing_pid: int | None = None  # process whose thread probes during an outage
        self._lock = threading.Lock()
        self._local = threading.local()  # has the thread's own connection

    @property
    def client(self) -> Redis:
        """The plain client, for jobs, which may fail and be repeated."""
        client = self._client  # read once, as another thread may drop it meanwhile
        if client is None:
            client = self._client = connect_valkey(self._resolve_url())
        return client

    def resolve(self) -> None:
        """Find out the address, without connecting. This may start the embedded server.

        Raises:
            OSError: the embedded server cannot be started.
        """
        self._client = connect_valkey(self._resolve_url())

    @property
    def is_down(self) -> bool:
        return self._down_since is not None

    def run(self, script: Script, keys: tuple[str, ...], *values: Any) -> Any:
        """Return the result of a script, or None as ``attempt``; for the hot path.

        It is one round trip, and two if Valkey does not have the script yet. Each thread has its
        own connection, as the client's pool and retries cost as much as the command.
        """

        def evaluate(client: Redis) -> Any:
            arguments = (len(keys), *keys, *values)
            try:
                return self._on_own_connection(client, ("EVALSHA", script.digest, *arguments))
            except NoScriptError:
                return self._on_own_connection(client, ("EVAL", script.text, *arguments))

        return self.attempt(evaluate)

    def attempt(self, command: Callable[[Redis], T]) -> T | None:
        """Return the result of ``command``, or None if Valkey fails or is known to be down."""
        if self._down_since is not None:
            if self._probing_pid != os.getpid():  # forked during an outage
                self._start_probing()
            return None
        try:
            return command(self.client)
        except (RedisError, OSError) as error:
            self._record_failure(error)
            return None

    def is_writable(self) -> bool:
        """True if Valkey can be written to now."""
        return self.attempt(_write_probe) is not None

    def probe(self) -> bool:
        """True if an outage is over. Only the probing thread calls this.

        The client of a server that is gone is dropped: there may be a new address, and the embedded
        server may have to be started.
        """
        try:
            _write_probe(self.client)
        except RedisTimeout:
            return False
        except (RedisError, OSError):
            self._client = None
            return False
        began, self._down_since = self._down_since, None
        if began is not None:
            log.warning("Valkey is back after %.1f s", time.monotonic() - began)
        return True

    def _on_own_connection(self, client: Redis, command: tuple[Any, ...]) -> Any:
        local, is_new = self._local, False
        if getattr(local, "made_for", None) != (os.getpid(), self.outages):
            local.connection = _new_connection(client)
            local.made_for, is_new = (os.getpid(), self.outages), True
        elif leads_elsewhere(client, local.connection):
            local.connection.disconnect()
        try:
            return _exchange_command(local.connection, command)
        except RedisConnectionError:
            if is_new:
                raise
        # An idle connection may have been closed, which is no outage.
        return _exchange_command(local.connection, command)

    def _record_failure(self, error: Exception) -> None:
        with self._lock:
            if self._down_since is not None:
                return
            self._down_since = time.monotonic()
            self.outages += 1
        _OUTAGES.inc()
        log.error("Valkey is down: %s: %s", type(error).__name__, error)
        self._start_probing()

    def _start_probing(self) -> None:
        with self._lock:
            if self._probing_pid == os.getpid():
                return
            self._probing_pid = os.getpid()
        thread = threading.Thread(
            target=_probe_until_up, args=(weakref.ref(self),), name="valkey-probe", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # there are too many threads; the next request tries again
            log.error("cannot probe whether Valkey is back: %s", error)
            self._probing_pid = None

    def _probe_once(self) -> bool:
        """Probe in the probing thread. Returns True if the thread is done."""
        if not self.probe():
            return False
        with self._lock:
            if self._down_since is not None:  # it failed again at once
                return False
            self._probing_pid = None
        return True


def _probe_until_up(reference: weakref.ref[Valkey]) -> None:
    """Probe until the outage is over, or the ``Valkey`` object is gone."""
    while True:
        time.sleep(PROBE_INTERVAL)
        valkey = reference()
        try:
            if valkey is None or valkey._probe_once():
                return
        except Exception:
            log.exception("probing Valkey failed")
        del valkey


def _exchange_command(connection: Any, command: tuple[Any, ...]) -> Any:
    """Return the reply to a command. After an error the connection is closed; its next use opens
    it again."""
    try:
        if not connection.is_connected:
            connection.connect()  # unlike send_command, it asks the Sentinels
        connection.send_command(*command, check_health=False)
        return connection.read_response()
    except NoScriptError:
        raise
    except RedisError:
        connection.disconnect()
        raise


def _write_probe(client: Redis) -> bool:
    return bool(client.set(_PROBE, "1", ex=_PROBE_SECONDS))


def _script_digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()  # as Valkey names it


def connect_valkey(url: str, *, timeout: float | None = None) -> Redis:
    """Make a client with short timeouts and without redis-py's retries, whatever the URL asks for.
    Raises ValueError or TypeError for a URL with wrong options.

    Args:
        timeout: in seconds. None: ``TIMEOUT_SECONDS``.
    """
    seconds = TIMEOUT_SECONDS if timeout is None else timeout
    client = make_client(
        url,
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )
    _new_connection(client)
    return client


def _new_connection(client: Redis) -> Any:
    """Make a connection outside the client's pool, which would count it forever. Using it opens
    it."""
    pool = client.connection_pool
    return pool.connection_class(**pool.connection_kwargs)


def init_app(app: Flask, settings: Settings, start: Callable[[], str]) -> None:
    """Give ``app`` its Valkey. Nothing is connected or started before the first use.

    Args:
        start: starts the embedded server, and returns its URL. Used without REDIS_URL.

    Raises:
        config.SettingsError: REDIS_URL has an unknown option.
    """
    url = settings.redis_url
    if url is not None:
        try:
            connect_valkey(url)
        except (ValueError, TypeError) as error:
            raise SettingsError(f"REDIS_URL cannot be used: {error}.") from None
    app.extensions["canopy_valkey"] = Valkey(start if url is None else lambda: url)


def valkey() -> Valkey:
    """Return the application's Valkey."""
    application_valkey: Valkey = current_app.extensions["canopy_valkey"]
    return application_valkey
