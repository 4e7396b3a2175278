"""Parsing the URLs that may be called.

The same parser is used when a URL is registered and when it is called, so that what was checked is
what is called. It rejects anything that another parser could read differently.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final, NamedTuple

import idna

from app.policy.deliveries import URL_LENGTH

_PORTS: Final = {"http": 80, "https": 443}
_HOST_LENGTH: Final = 253  # characters of a name
_NEVER: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\]|\s")
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<rest>[^#]*)",
    re.IGNORECASE | re.ASCII,  # or ſ is an s
)
_AUTHORITY: Final = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,5}))?")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


class UrlTarget(NamedTuple):
    """The parts of a URL."""

    host: str  # an ASCII name in lower case, without a final dot; or an address
    port: int
    authority: str  # for the header Host
    request_target: str  # path and query
    is_secure: bool = True  # https, not http


@lru_cache(maxsize=1024)
def parse_target(url: str, may_be_http: bool = False) -> UrlTarget:
    """Parse a URL.

    Raises:
        ValueError: it cannot be called. The message is a sentence for its author.
    """
    if not 1 <= len(url) <= URL_LENGTH:
        raise ValueError(f"Must have 1 to {URL_LENGTH:,} characters.")
    if _NEVER.search(url):
        raise ValueError("Must not contain spaces, control characters or backslashes.")
    if "#" in url:
        raise ValueError("Must not have a fragment (#…), which is never sent.")
    parts = _URL.fullmatch(url)
    scheme = parts["scheme"].lower() if parts else ""
    if parts is None or (scheme == "http" and not may_be_http):
        raise ValueError("Must begin with https://")
    rest = parts["rest"]
    if not rest.isascii():
        raise ValueError("Must have non-ASCII characters after the host percent-encoded.")
    default = _PORTS[scheme]
    host, port = _host_and_port(parts["authority"], default)
    authority = f"[{host}]" if ":" in host else host
    if port != default:
        authority += f":{port}"
    path = rest if rest.startswith("/") else f"/{rest}"
    return UrlTarget(host, port, authority, path, is_secure=scheme == "https")


def _host_and_port(authority: str, default: int) -> tuple[str, int]:
    if "@" in authority:
        raise ValueError("Must not contain a user name or a password.")
    if "%" in authority:
        raise ValueError("Must not contain a percent sign in the host.")
    parts = _AUTHORITY.fullmatch(authority)
    port = int(parts["port"] or default) if parts else 0
    if parts is None or not 1 <= port <= 65_535:
        raise ValueError("Must have a host, and any port must be from 1 to 65535.")
    host = parts["host"]
    return (_parse_ipv6(host[1:-1]) if host.startswith("[") else _name_or_ipv4(host)), port


def _parse_ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise ValueError("Must have a valid IPv6 address in the brackets.") from None


def _name_or_ipv4(text: str) -> str:
    host = _ascii_host(text).lower().removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _parse_ipv4(host)
    if len(host) > _HOST_LENGTH or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("Must have a valid name or address as its host.")
    return host


def _ascii_host(host: str) -> str:
    """Encode an internationalized name as it is looked up (UTS 46)."""
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        raise ValueError("Must have a valid internationalized name as its host.") from None


def _parse_ipv4(host: str) -> str:
    """Parse an IPv4 address. Programs differ in how they read other notations (2130706433, 0x7f.1,
    0177.0.0.1)."""
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        raise ValueError(
            "Must write an IPv4 address as four decimal numbers, such as 203.0.113.7."
        ) from None
