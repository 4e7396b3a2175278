"""Redirect URIs of applications: validating them, and matching a request against them.

They are compared as plain text. Spellings that browsers or libraries treat as equivalent (case,
default ports, ``%2e``) are different URIs here.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from app.policy.oauth import REDIRECT_URI_LENGTH

_LOOPBACK_HOSTS: Final = ("127.0.0.1", "[::1]", "localhost")
_INVALID_CHARACTER: Final = re.compile(
    r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})"
)
_PRIVATE_SCHEME: Final = re.compile(r"\A[a-z][a-z0-9+-]*+(?:\.[a-z0-9+-]++)++")
_AUTHORITY: Final = re.compile(
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]+))?"
)
_DOT_SEGMENT: Final = re.compile(r"/(?:\.|%2[Ee]){1,2}(?=[/?]|$)")
# RFC 8252, section 7.3, and RFC 9700, section 2.1: native apps listen on any free port.
_LOOPBACK: Final = re.compile(
    r"http://(?P<host>127\.0\.0\.1|\[::1\]|localhost)(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<rest>[/?].*)?"
)


def redirect_uri_problem(uri: str) -> str | None:
    """The reason why a URI cannot be registered, or None."""
    if not 1 <= len(uri) <= REDIRECT_URI_LENGTH:
        return f"Must have 1 to {REDIRECT_URI_LENGTH:,} characters."
    if _INVALID_CHARACTER.search(uri):
        return "Must contain only characters valid in a URI. Write international names as xn--…"
    if "#" in uri:
        return "Must not have a fragment."
    if "*" in uri:
        return "Must be a complete URI, without wildcards."
    scheme, _, rest = uri.partition(":")
    if scheme in ("https", "http"):
        return _web_problem(scheme, rest)
    if not _PRIVATE_SCHEME.fullmatch(scheme):
        return (
            "Must begin with https://, with http:// and a loopback address, or with a scheme of "
            "the application's own, such as com.example.app:/"
        )
    return _private_scheme_problem(rest)


def is_registered(uri: str, registered: Collection[str]) -> bool:
    """True if a request's URI is registered. The port of a loopback address may differ."""
    if uri in registered:
        return True
    without_port = _without_port(uri)
    return without_port is not None and without_port in map(_without_port, registered)


def with_parameters(uri: str, parameters: dict[str, str]) -> str:
    """Append parameters to a redirect URI, and leave it otherwise unchanged."""
    separator = "&" if "?" in uri else "?"
    if uri.endswith(("?", "&")):
        separator = ""
    return uri + separator + urlencode(parameters, quote_via=quote, safe="")


def display_host(uri: str) -> str:
    """The host of a redirect URI, or its private scheme, for display."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def is_on_this_device(uri: str) -> bool:
    """True if a redirect URI leads to a program on the person's device."""
    parts = urlsplit(uri)
    return parts.scheme not in ("http", "https") or _LOOPBACK.fullmatch(uri) is not None


def _web_problem(scheme: str, rest: str) -> str | None:
    authority, path = _split_authority(rest.removeprefix("//"))
    host = _authority_host(authority) if rest.startswith("//") else None
    if host is None:
        return "Must have only a host and, optionally, a port before its path."
    if scheme == "http" and host not in _LOOPBACK_HOSTS:
        return f"Must be https; http is for {', '.join(_LOOPBACK_HOSTS)} only."
    return _path_problem(path)


def _private_scheme_problem(rest: str) -> str | None:
    if not rest.startswith("/"):
        return "Must have a path after its scheme, such as com.example.app:/back"
    authority, path = (
        _split_authority(rest.removeprefix("//")) if rest.startswith("//") else ("", rest)
    )
    if authority and _authority_host(authority) is None:
        return "Must have only a host and, optionally, a port between // and its path."
    return _path_problem(path)


def _path_problem(path: str) -> str | None:
    if _DOT_SEGMENT.search(path.partition("?")[0]):
        return "Must not have . or .. in its path."
    return None


def _authority_host(authority: str) -> str | None:
    """The host of an authority, or None if that is invalid or contains user info."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not 1 <= int(match["port"] or 1) <= 65_535:
        return None
    host = match["host"]
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            return None
    return host


def _split_authority(text: str) -> tuple[str, str]:
    """Split a text into its authority and the rest."""
    match = re.search(r"[/?]|$", text)
    end = match.start() if match else len(text)
    return text[:end], text[end:]


def _without_port(uri: str) -> tuple[str, str] | None:
    """The host of a loopback address and the part after its port; None for any other URI."""
    match = _LOOPBACK.fullmatch(uri)
    if match is None or int(match["port"] or 80) > 65_535:
        return None
    return match["host"], match["rest"] or ""
