"""How the text of a setting becomes its value.

Each reader raises ``ValueError`` for a text that it cannot use. Its message goes on from the name
of the setting: "must be …".
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# What browsers send as Origin: no path, not even "/".
_ORIGIN = re.compile(r"https?://([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORTS = (("http://", ":80"), ("https://", ":443"))


def text(value: str) -> str:
    return value


def optional(value: str) -> str | None:
    return value or None


def boolean(value: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if value.lower() not in words:
        raise ValueError("must be true or false")
    return words[value.lower()]


def whole(low: int, high: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(value)

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        return value

    return read


def url(*schemes: str) -> Callable[[str], str | None]:
    def read(value: str) -> str | None:
        if value and urlsplit(value).scheme not in schemes:
            raise ValueError("must be a URL that begins with " + " or ".join(schemes))
        return value or None

    return read


def networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part) for part in _parts(value))
    except ValueError as error:
        raise ValueError(
            f"must be networks such as 10.0.0.0/8, separated by commas ({error})"
        ) from None


def origins(value: str) -> frozenset[str]:
    """Origins as browsers send them: in lower case, without a port that the scheme implies."""
    found = {_origin(part.lower()) for part in _parts(value)}
    if "*" in found and len(found) > 1:
        raise ValueError("must be * alone, or origins without it")
    return frozenset(found)


def file(value: str) -> Path | None:
    if value and not Path(value).is_file():
        raise ValueError("must name a file that exists")
    return Path(value).resolve() if value else None


def folder(value: str) -> Path:
    return Path(value).expanduser().absolute()


def database_address(value: str) -> str:
    """SQLAlchemy's form of the address; ``postgres://`` and ``postgresql://`` mean psycopg 3."""
    if not value or (value.startswith("sqlite:///") and value.rstrip("/") != "sqlite:"):
        return value
    for prefix in ("postgresql+psycopg://", "postgresql://", "postgres://"):
        if value.startswith(prefix):
            return "postgresql+psycopg://" + value.removeprefix(prefix)
    raise ValueError("must be sqlite:/// with the path of a file, or begin with postgresql://")


def _parts(value: str) -> list[str]:
    return value.replace(",", " ").split()


def _origin(part: str) -> str:
    if part != "*" and not _ORIGIN.fullmatch(part):
        raise ValueError(
            "must be * or origins such as https://app.example.org, separated by commas, "
            "without a path or a slash at the end"
        )
    for scheme, port in _DEFAULT_PORTS:
        if part.startswith(scheme):
            return part.removesuffix(port)
    return part
