"""Passkeys without the WebAuthn library, which is imported late."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from app.http.urls import absolute_url


class BadResponse(Exception):
    """A browser's response is malformed or invalid."""


class KnownPasskey(NamedTuple):
    """A passkey that was registered.

    Attributes:
        credential_id: base64url.
        transports: the ways in which a browser reaches it, separated by spaces.
    """

    credential_id: str
    transports: str


def relying_party_id() -> str:
    """The host for which passkeys are created: that of ``PUBLIC_URL``, or if that is not set, such
    as on a developer's machine, the one that the browser requests."""
    return urlsplit(absolute_url("")).hostname or ""


def is_possible() -> bool:
    """Return False if the host is an IP address, for which browsers create no passkeys."""
    try:
        ipaddress.ip_address(relying_party_id())
    except ValueError:
        return True
    return False
