"""Clients for REDIS_URL: of one server, or of the primary that Sentinels name."""

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

SENTINEL_TIMEOUT: Final = 0.25  # seconds for each Sentinel that is asked
ASK_EVERY: Final = 1.0  # seconds between two questions where the primary is
ASK_AGAIN: Final = 10.0  # seconds, after no Sentinel answered: requests wait for the answer


class _Sentinel(Sentinel):
    """Asks the Sentinels for the primary, the one that responded last first."""

    def discover_master(self, service_name: str) -> Any:
        # redis-py reorders the list in place; two threads at once could drop a Sentinel from it.
        own = copy(self)
        own.sentinels = list(self.sentinels)
        try:
            address = Sentinel.discover_master(own, service_name)  # type: ignore[no-untyped-call]
        except MasterNotFoundError:  # its message has the internals of each client
            raise MasterNotFoundError(
                f"none of {len(own.sentinels)} Sentinels names a primary of {service_name} that "
                "responds"
            ) from None
        self.sentinels = own.sentinels
        return address


class PrimaryPool(SentinelConnectionPool):
    """Connections to the primary.

    A primary that is replaced on purpose goes on accepting writes for ten seconds or more, which
    are lost. So the Sentinels are asked every second, not only for a new connection.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self._ask_at = 0.0

    def get_connection(self, *arguments: Any, **options: Any) -> Any:
        self.follow()
        return super().get_connection(*arguments, **options)

    def follow(self) -> None:
        """Ask where the primary is, if that is due, and close idle connections to another
        server."""
        now = time.monotonic()
        if now < self._ask_at:
            return
        self._ask_at = now + ASK_EVERY
        try:
            self.get_master_address()  # type: ignore[no-untyped-call]
        except (RedisError, OSError):  # existing connections may still work
            self._ask_at = now + ASK_AGAIN


def make_client(url: str, **options: Any) -> Redis:
    """A client that connects when it is used.

    One of Sentinels asks them for the primary at each new connection, and every second.

    Args:
        options: options of redis-py's connections; they override those of the address.

    Raises:
        ValueError, TypeError: the address cannot be read, or has wrong options.
    """
    address = sentinel_address(url)
    client = Redis.from_url(url) if address is None else _primary_client(address)
    client.connection_pool.connection_kwargs |= options
    return client


def leads_elsewhere(client: Redis, connection: Any) -> bool:
    """True if a connection outside the client's pool leads to a server that is no longer the
    primary."""
    pool = client.connection_pool
    if not isinstance(pool, PrimaryPool):
        return False
    pool.follow()
    known = pool.master_address
    return known is not None and known != (connection.host, connection.port)


def sentinels_of(address: SentinelAddress) -> list[Redis]:
    """A client for each Sentinel, in the order of the address. Raises ValueError."""
    return _sentinel(address).sentinels


def _primary_client(address: SentinelAddress) -> Redis:
    client: Redis = _sentinel(address).master_for(  # type: ignore[no-untyped-call]
        address.service, connection_pool_class=PrimaryPool
    )
    return client


def _sentinel(address: SentinelAddress) -> _Sentinel:
    options = parse_url(address.primary_url)  # type: ignore[no-untyped-call]
    options.pop("connection_class", None)
    tls = {name: value for name, value in options.items() if name.startswith("ssl_")}
    if address.is_tls:
        tls["ssl"] = options["ssl"] = True
    own = {
        **tls,
        "username": address.user,
        "password": address.password,
        "socket_timeout": SENTINEL_TIMEOUT,
        "socket_connect_timeout": SENTINEL_TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
    }
    return _Sentinel(address.sentinels, sentinel_kwargs=own, **options)  # type: ignore[no-untyped-call]
