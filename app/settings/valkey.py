"""Parsing the setting ``REDIS_URL``.

Errors are as in ``app.settings.values``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from app.settings.values import check_port, host_and_port, url

SENTINEL_SCHEMES = ("redis+sentinel", "rediss+sentinel")
SENTINEL_PORT = 26379

_PATH = re.compile(r"/(?P<service>[A-Za-z0-9._-]+)(/(?P<database>[0-9]{1,5})?)?")
_FORM = "redis+sentinel://host:26379,host:26379,host:26379/mymaster/0"

# Python's urlsplit refuses an IPv6 address that is not the first of several hosts.
_HOSTS = re.compile(r"(?<=://)[^/?#]*")
_read_url = url("redis", "rediss", "unix", *SENTINEL_SCHEMES)


@dataclass(frozen=True, slots=True)
class SentinelAddress:
    """Sentinels, and the primary that they watch.

    Attributes:
        sentinels: (host, port) of each.
        service: the name of the primary.
        is_tls: True for TLS to the Sentinels and to the primary.
        primary_url: user, password, database and options of the primary, without a host.
        user: the user for the Sentinels themselves.
        password: the password for the Sentinels themselves.
    """

    sentinels: tuple[tuple[str, int], ...]
    service: str
    is_tls: bool
    primary_url: str = field(repr=False)
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)


def valkey_address(value: str) -> str | None:
    """Check the URL of one server, or of Sentinels."""
    if sentinel_address(value) is not None:
        return value
    if server_url := _read_url(value):
        check_port(server_url)
    return value or None


def sentinel_address(value: str) -> SentinelAddress | None:
    """Parse ``redis+sentinel://[user:password@]host:26379,…/service[/database]``.

    Returns None for the URL of one server. Raises ValueError.
    """
    netloc = _HOSTS.search(value)
    parts = urlsplit(_HOSTS.sub("", value, count=1))
    if netloc is None or parts.scheme not in SENTINEL_SCHEMES:
        return None
    user, _, hosts = netloc[0].rpartition("@")
    path = _PATH.fullmatch(unquote(parts.path))
    if path is None:
        raise ValueError(
            "must have the name by which the Sentinels know the primary, and a database if it is "
            f"not 0, after the hosts: {_FORM}"
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    login = {name: options.pop(f"sentinel_{name}", None) for name in ("username", "password")}
    return SentinelAddress(
        tuple(host_and_port(host, SENTINEL_PORT, _FORM) for host in hosts.split(",")),
        path["service"],
        parts.scheme.startswith("rediss"),
        _primary_url(parts, user, path["database"] or "0", options),
        login["username"],
        login["password"],
    )


def _primary_url(parts: SplitResult, user: str, database: str, options: dict[str, str]) -> str:
    query = f"?{urlencode(options)}" if options else ""
    scheme = parts.scheme.partition("+")[0]
    return f"{scheme}://{f'{user}@' if user else ''}/{database}{query}"
