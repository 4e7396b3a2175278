"""Parsing the setting ``REDIS_URL``.

Each reader raises ``ValueError`` with a message that continues the name of the setting, as those of
``app.settings.values`` do.
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
    """Sentinels, and the name by which they know the primary.

    ``primary_url`` has the user, the password, the database and the options for the primary, but no
    host.
    """

    sentinels: tuple[tuple[str, int], ...]  # host and port
    service: str
    is_tls: bool  # to the Sentinels and to the primary
    primary_url: str = field(repr=False)
    user: str | None = field(repr=False)  # for the Sentinels themselves
    password: str | None = field(repr=False)


def valkey_address(value: str) -> str | None:
    """The URL of one server, or of the Sentinels that know which one to use."""
    if sentinel_address(value) is not None:
        return value
    found = _read_url(value)
    if found is not None:
        check_port(found)
    return found


def sentinel_address(value: str) -> SentinelAddress | None:
    """The parts of ``redis+sentinel://[user:password@]host:26379,…/service[/database]``; None for
    the URL of one server. Raises ValueError."""
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
    own = {name: options.pop(f"sentinel_{name}", None) for name in ("username", "password")}
    return SentinelAddress(
        tuple(host_and_port(host, SENTINEL_PORT, _FORM) for host in hosts.split(",")),
        path["service"],
        parts.scheme.startswith("rediss"),
        _primary_url(parts, user, path["database"] or "0", options),
        own["username"],
        own["password"],
    )


def _primary_url(parts: SplitResult, user: str, database: str, options: dict[str, str]) -> str:
    query = f"?{urlencode(options)}" if options else ""
    scheme = parts.scheme.partition("+")[0]
    return f"{scheme}://{f'{user}@' if user else ''}/{database}{query}"
