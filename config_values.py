"""How the text of a setting becomes its value.

Each reader raises ``ValueError`` for invalid text. Its message continues the name of the setting:
"must be …".
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# What browsers send as Origin: no path, not even "/".
_ORIGIN = re.compile(r"https?://([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORTS = (("http://", ":80"), ("https://", ":443"))

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_LOCAL_PART = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}")
_SENDER = re.compile(r"(?:(?P<name>[^<>]*?) *<)?(?P<address>[^<> ]+?)(?(name)>)")
_SENDER_LENGTH = 64  # characters of the name


@dataclass(frozen=True, slots=True)
class MailServer:
    """The server that sends mails. ``starttls`` is ``offered``, ``required`` or ``never``."""

    host: str
    port: int
    is_tls: bool  # from the first byte on
    starttls: str
    user: str = field(repr=False)  # empty: no login
    password: str = field(repr=False)
    ca: Path | None  # trusted certificates; None: those of the system


class Sender(NamedTuple):
    """The sender of mails; the name may be empty."""

    name: str
    address: str


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
    """The URL for SQLAlchemy; ``postgres://`` and ``postgresql://`` mean psycopg 3."""
    if not value or (value.startswith("sqlite:///") and value.rstrip("/") != "sqlite:"):
        return value
    for prefix in ("postgresql+psycopg://", "postgresql://", "postgres://"):
        if value.startswith(prefix):
            return "postgresql+psycopg://" + value.removeprefix(prefix)
    raise ValueError("must be sqlite:/// with the path of a file, or begin with postgresql://")


def mail_server(value: str) -> MailServer | None:
    """``smtp://`` or ``smtps://``, with a user and a password if the server requires them."""
    if not value:
        return None
    found = _mail_url(value)
    user, password = _decoded(found.username), _decoded(found.password)
    if bool(user) != bool(password):
        raise ValueError("must have a user and a password, or neither")
    starttls, ca = _mail_options(found.query, is_tls=found.scheme == "smtps")
    host = found.hostname or ""
    if user and found.scheme == "smtp" and not is_loopback(host):
        if starttls == "never":
            raise ValueError("must not say starttls=never: the password would be sent unencrypted")
        starttls = "required"
    port = found.port or (465 if found.scheme == "smtps" else 587 if user else 25)
    return MailServer(host, port, found.scheme == "smtps", starttls, user, password, ca)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def sender(value: str) -> Sender:
    """An address, or a name with an address in angle brackets."""
    found = _SENDER.fullmatch(value)
    name = (found["name"] or "").strip('" ') if found else ""
    local, _, host = found["address"].rpartition("@") if found else ("", "", "")
    is_name = name.isprintable() and len(name) <= _SENDER_LENGTH and not set(name) & set('"\\')
    if not (_LOCAL_PART.fullmatch(local) and _HOST.fullmatch(host) and is_name) or "=?" in name:
        raise ValueError(
            "must be an address such as canopy@example.org, or one with a name of at most "
            f"{_SENDER_LENGTH} characters, such as Canopy <canopy@example.org>"
        )
    return Sender(name, f"{local}@{host}")


def _mail_url(value: str) -> SplitResult:
    try:
        found = urlsplit(value)
        host = f"[{found.hostname}]" if ":" in (found.hostname or "") else found.hostname or ""
        is_right = (
            found.scheme in ("smtp", "smtps")
            and _HOST.fullmatch(host)
            and found.port != 0
            and found.path in ("", "/")
            and not found.fragment
        )
    except ValueError:
        is_right = False
    if not is_right:
        raise ValueError(
            "must be a URL such as smtp://localhost or smtps://user:password@mail.example.org, "
            "without a path; special characters of user and password are percent-encoded"
        )
    return found


def _decoded(value: str | None) -> str:
    """A user or a password in ASCII; the library for SMTP cannot send other characters."""
    try:
        text = unquote(value or "", errors="strict")
    except UnicodeDecodeError:
        text = "\n"
    if not text.isascii() or not text.isprintable():
        raise ValueError("must have a user and a password of printable ASCII characters")
    return text


def _mail_options(query: str, *, is_tls: bool) -> tuple[str, Path | None]:
    """``starttls`` and ``ca``."""
    try:
        options = parse_qs(query, strict_parsing=True) if query else {}
        starttls = _only(options.pop("starttls", ["offered"]))
        ca = _only(options.pop("ca", [""]))
        if options or (is_tls and starttls != "offered"):
            raise ValueError
        return one_of("offered", "required", "never")(starttls), file(ca)
    except ValueError:
        raise ValueError(
            "may end with ?starttls=required or ?starttls=never when it begins with smtp:, and "
            "with ?ca= and the path of a file of certificates that exists; join two with &"
        ) from None


def _only(values: list[str]) -> str:
    (value,) = values
    return value


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
