"""Clients for REDIS_URL: one server, or the primary that Sentinels name."""

from __future__ import annotations

import time
from copy import copy
from typing import Any, Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.exceptions import RedisError
from redis.retry import Retry
from redis.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool

from app.settings.valkey import SentinelAddress, sentinel_address

SENTINEL_TIMEOUT: Final = 0.25  # seconds for each Sentinel
ASK_EVERY: Final = 1.0  # seconds between two questions for the primary
ASK_AGAIN: Final = 10.0  # seconds after no Sentinel answered, as requests wait for the answer


class _Sentinel(Sentinel):
    """Asks the Sentinels for the primary, beginning with the one that responded last."""

    def discover_master(self, service_name: str) -> Any:
        # redis-py reorders the list in place: two threads at once could drop a Sentinel from it.
        twin = copy(self)
        twin.sentinels = list(self.sentinels)
        try:
            address = Sentinel.discover_master(twin, service_name)  # type: ignore[no-untyped-call]
        except MasterNotFoundError:  # its message shows internals of each client
            raise MasterNotFoundError(
                f"none of {len(twin.sentinels)} Sentinels names a primary of {service_name} that "
                "responds"
            ) from None
        self.sentinels = twin.sentinels
        return address


class PrimaryPool(SentinelConnectionPool):
    """Connections to the primary.

    A primary that is replaced on purpose accepts writes, which are lost, for ten seconds or more.
    So the Sentinels are asked every second, and not only for a new connection.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self._ask_at = 0.0

    def get_connection(self, *arguments: Any, **options: Any) -> Any:
        self.follow()
        return super().get_connection(*arguments, **options)

    def follow(self) -> None:
        """Ask for the primary, if that is due, and close idle connections to other servers."""
        now = time.monotonic()
        if now < self._ask_at:
            return
        self._ask_at = now + ASK_EVERY
        try:
            self.get_master_address()  # type: ignore[no-untyped-call]
        except (RedisError, OSError):  # existing connections may still work
            self._ask_at = now + ASK_AGAIN


def make_client(url: str, **options: Any) -> Redis:
    """Make a client, which connects when it is used. With Sentinels, it asks them for the primary
    at each new connection, and every second.

    Args:
        options: options of redis-py's connections, which override the URL's.

    Raises:
        ValueError, TypeError: the URL cannot be read, or has wrong options.
    """
    address = sentinel_address(url)
    client = Redis.from_url(url) if address is None else _primary_client(address)
    client.connection_pool.connection_kwargs |= options
    return client


def leads_elsewhere(client: Redis, connection: Any) -> bool:
    """True if a connection outside the client's pool leads to a former primary."""
    pool = client.connection_pool
    if not isinstance(pool, PrimaryPool):
        return False
    pool.follow()
    primary = pool.master_address
    return primary is not None and primary != (connection.host, connection.port)


def sentinels_of(address: SentinelAddress) -> list[Redis]:
    """Make a client for each Sentinel, in the order of the address. Raises ValueError."""
    return _sentinel_client(address).sentinels


def _primary_client(address: SentinelAddress) -> Redis:
    client: Redis = _sentinel_client(address).master_for(  # type: ignore[no-untyped-call]
        address.service, connection_pool_class=PrimaryPool
    )
    return client


def _sentinel_client(address: SentinelAddress) -> _Sentinel:
    options = parse_url(address.primary_url)  # type: ignore[no-untyped-call]
    options.pop("connection_class", None)
    tls = {name: value for name, value in options.items() if name.startswith("ssl_")}
    if address.is_tls:
        tls["ssl"] = options["ssl"] = True
    sentinel_options = {
        **tls,
        "username": address.user,
        "password": address.password,
        "socket_timeout": SENTINEL_TIMEOUT,
        "socket_connect_timeout": SENTINEL_TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
    }
    return _Sentinel(  # type: ignore[no-untyped-call]
        address.sentinels, sentinel_kwargs=sentinel_options, **options
    )
