"""Parsing the settings ``MAIL_URL`` and ``MAIL_FROM``.

Errors are as in ``app.settings.values``.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from app.settings.values import certificates, one_of

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_LOCAL_PART = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}")
_SENDER_LENGTH = 64  # most characters of the name


@dataclass(frozen=True, slots=True)
class MailServer:
    """The server that sends mails. ``starttls`` is ``offered``, ``required`` or ``never``."""

    host: str
    port: int
    is_tls: bool  # from the first byte
    starttls: str
    user: str = field(repr=False)  # empty: no login
    password: str = field(repr=False)
    ca: Path | None  # trusted certificates; None for the system's


class Sender(NamedTuple):
    """The sender of mails; the name may be empty."""

    name: str
    address: str


def mail_server(value: str) -> MailServer | None:
    """Parse ``smtp://`` or ``smtps://``, with user and password if the server requires them."""
    if not value:
        return None
    url = _mail_url(value)
    user, password = _decode_ascii(url.username), _decode_ascii(url.password)
    if bool(user) != bool(password):
        raise ValueError("must have a user and a password, or neither")
    starttls, ca = _mail_options(url.query, is_tls=url.scheme == "smtps")
    host = url.hostname or ""
    if user and url.scheme == "smtp" and not is_loopback(host):
        if starttls == "never":
            raise ValueError("must not have starttls=never: the password would be sent unencrypted")
        starttls = "required"
    port = url.port or (465 if url.scheme == "smtps" else 587 if user else 25)
    return MailServer(host, port, url.scheme == "smtps", starttls, user, password, ca)


def is_loopback(host: str) -> bool:
    """True if a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def sender(value: str) -> Sender:
    """Parse an address, or a name with an address in angle brackets."""
    before, bracket, address = value.partition("<")
    name = before.strip('" ') if bracket else ""
    local, _, host = (address.removesuffix(">") if bracket else value).rpartition("@")
    is_name = name.isprintable() and len(name) <= _SENDER_LENGTH and not set(name) & set('"\\>')
    if bracket and not address.endswith(">"):
        local = ""
    if not (_LOCAL_PART.fullmatch(local) and _HOST.fullmatch(host) and is_name) or "=?" in name:
        raise ValueError(
            "must be an address such as canopy@example.org, or one with a name of at most "
            f"{_SENDER_LENGTH} characters, such as Canopy <canopy@example.org>"
        )
    return Sender(name, f"{local}@{host}")


def email(value: str) -> str | None:
    """Parse an email address without a name, or nothing."""
    if value and sender(value) != ("", value):
        raise ValueError("must be an address such as help@example.org, without a name")
    return value or None


def _mail_url(value: str) -> SplitResult:
    try:
        url = urlsplit(value)
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname or ""
        is_valid = (
            url.scheme in ("smtp", "smtps")
            and _HOST.fullmatch(host)
            and url.port != 0
            and url.path in ("", "/")
            and not url.fragment
        )
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError(
            "must be a URL such as smtp://localhost or smtps://user:password@mail.example.org, "
            "without a path; percent-encode special characters in user and password"
        )
    return url


def _decode_ascii(value: str | None) -> str:
    """Decode a user or a password, which smtplib can only send in ASCII."""
    try:
        text = unquote(value or "", errors="strict")
    except UnicodeDecodeError:
        text = "\n"
    if not text.isascii() or not text.isprintable():
        raise ValueError("must have a user and a password of printable ASCII characters")
    return text


def _mail_options(query: str, *, is_tls: bool) -> tuple[str, Path | None]:
    """Return (starttls, ca)."""
    try:
        options = parse_qs(query, strict_parsing=True) if query else {}
        starttls = _allowed_words(options.pop("starttls", ["offered"]))
        ca = _allowed_words(options.pop("ca", [""]))
        if options or (is_tls and starttls != "offered"):
            raise ValueError
        return one_of("offered", "required", "never")(starttls), certificates(ca)
    except ValueError:
        raise ValueError(
            "may end with ?starttls=required or ?starttls=never if it begins with smtp:, and "
            "with ?ca= and the path of a readable file with certificates, in PEM form; join two "
            "options with &"
        ) from None


def _allowed_words(values: list[str]) -> str:
    (value,) = values
    return value
