"""Valkey, or Redis: counters that all processes agree on, and the job queue.

The service goes on without it. ``attempt`` runs a command and answers None when Valkey fails.
After a failure no request asks it again, until a thread that probes it every half second has
written something to it: so one that hangs costs each thread one short wait an outage, and one that
answers and cannot be written to (full, or read-only) is as good as none. One line is logged when an
outage begins and one when it ends.
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
_PROBE_SECONDS: Final = 60  # for which the probe's key stays


class Script:
    """A Lua script, which Valkey caches by its SHA-1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = _digest(text)


class Valkey:
    """A client that never makes a request fail, and seldom makes it wait."""

    def __init__(self, resolve_url: Callable[[], str]) -> None:
        self._resolve_url = resolve_url
        self._client: Redis | None = None
        self._down_since: float | None = None
        self.outages = 0  # that have begun
        self._probing_pid: int | None = None  # the process whose thread probes in an outage
        self._lock = threading.Lock()
        self._own = threading.local()

    @property
    def client(self) -> Redis:
        """The client, for jobs, which may fail and be tried again."""
        client = self._client  # looked at once: another thread may drop it meanwhile
        if client is None:
            client = self._client = connect(self._resolve_url())
        return client

    def resolve(self) -> None:
        """Find out its address, which may start it, without asking whether it answers.

        Raises:
            OSError: it has no address yet, and cannot be given one.
        """
        self._client = connect(self._resolve_url())

    @property
    def is_down(self) -> bool:
        return self._down_since is not None

    def run(self, script: Script, keys: tuple[str, ...], *values: Any) -> Any:
        """The result of a script, or None as in ``attempt``; for what every request needs.

        It is one round trip, and two when Valkey does not know the script yet. Each thread has a
        connection for it: the client's pool and its retries cost as much as the command.
        """

        def evaluate(client: Redis) -> Any:
            arguments = (len(keys), *keys, *values)
            try:
                return self._on_own_connection(client, ("EVALSHA", script.digest, *arguments))
            except NoScriptError:
                return self._on_own_connection(client, ("EVAL", script.text, *arguments))

        return self.attempt(evaluate)

    def attempt(self, command: Callable[[Redis], T]) -> T | None:
        """The result of ``command``, or None when Valkey fails or is known to be down."""
        if self._down_since is not None:
            if self._probing_pid != os.getpid():  # forked in the middle of an outage
                self._start_probing()
            return None
        try:
            return command(self.client)
        except (RedisError, OSError) as error:
            self._record_failure(error)
            return None

    def is_writable(self) -> bool:
        """True if it can be written to now."""
        return self.attempt(_write_probe) is not None

    def probe(self) -> bool:
        """Check whether an outage is over; only the probing thread calls this.

        A server that hangs is still there. One that is gone may have a new address, and the
        embedded one may have to be started, so the client is dropped.
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
        own, fresh = self._own, False
        if getattr(own, "known", None) != (os.getpid(), self.outages):
            own.connection = _new_connection(client)
            own.known, fresh = (os.getpid(), self.outages), True
        elif leads_elsewhere(client, own.connection):
            own.connection.disconnect()
        try:
            return _exchange(own.connection, command)
        except RedisConnectionError:
            if fresh:
                raise
        # A server, or what is between, may have closed it for being idle: that is no outage.
        return _exchange(own.connection, command)

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
        except RuntimeError as error:  # no thread can be started; the next request tries again
            log.error("cannot probe whether Valkey is back: %s", error)
            self._probing_pid = None

    def _probe_once(self) -> bool:
        """Probe from the probing thread. Returns True when that thread is done."""
        if not self.probe():
            return False
        with self._lock:
            if self._down_since is not None:  # it failed again at once
                return False
            self._probing_pid = None
        return True


def _probe_until_up(reference: weakref.ref[Valkey]) -> None:
    """Probe until the outage is over, or nobody uses Valkey any more; the body of the thread."""
    while True:
        time.sleep(PROBE_INTERVAL)
        valkey = reference()
        try:
            if valkey is None or valkey._probe_once():
                return
        except Exception:
            log.exception("probing Valkey failed")
        del valkey


def _exchange(connection: Any, command: tuple[Any, ...]) -> Any:
    """The reply to a command. After an error the connection is closed, and opens again when
    used."""
    try:
        if not connection.is_connected:
            connection.connect()  # asks the Sentinels, which send_command does not
        connection.send_command(*command, check_health=False)
        return connection.read_response()
    except NoScriptError:
        raise
    except RedisError:
        connection.disconnect()
        raise


def _write_probe(client: Redis) -> bool:
    return bool(client.set(_PROBE, "1", ex=_PROBE_SECONDS))


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()  # as Valkey names it


def connect(url: str, *, timeout: float | None = None) -> Redis:
    """A client with short timeouts and without redis-py's retries, whatever the address asks for.
    Raises ValueError or TypeError for an address with wrong options.

    Args:
        timeout: in seconds; None: ``TIMEOUT_SECONDS``.
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
    """A connection outside the client's pool, which would count it for ever. It opens when used."""
    pool = client.connection_pool
    return pool.connection_class(**pool.connection_kwargs)


def init_app(app: Flask, settings: Settings, start: Callable[[], str]) -> None:
    """Give ``app`` its Valkey. Nothing is connected, or started, before the first use.

    Args:
        start: starts the embedded server, where REDIS_URL is not set, and returns its address.

    Raises:
        config.SettingsError: REDIS_URL has an unknown option.
    """
    url = settings.redis_url
    if url is not None:
        try:
            connect(url)
        except (ValueError, TypeError) as error:
            raise SettingsError(f"REDIS_URL cannot be used: {error}.") from None
    app.extensions["canopy_valkey"] = Valkey(start if url is None else lambda: url)


def valkey() -> Valkey:
    """The application's Valkey."""
    found: Valkey = current_app.extensions["canopy_valkey"]
    return found
