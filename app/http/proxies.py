"""The client's address, scheme and host behind reverse proxies.

Each proxy appends the address of its client to ``X-Forwarded-For``. So with n trusted proxies the
client's address is the n-th from the end; anybody can have written those before it. The header is
split at commas only: with a parser for quotes, a client could hide the rest of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from app.outbound.addresses import is_address

_WITH_PORT: Final = re.compile(
    r"([0-9.]{1,15}):[0-9]{1,5}|\[([0-9A-Fa-f:.]{1,45})\](?::[0-9]{1,5})?"
)


class ForwardedAddress:
    """WSGI middleware that sets REMOTE_ADDR from the header of ``hops`` trusted proxies.

    A port after the address is ignored. If there are fewer entries, or the entry is no address, the
    address is empty, which is on no allowlist, and never the proxy's own.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]], hops: int) -> None:
        self._application = application
        self._hops = hops

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        header = environ.get("HTTP_X_FORWARDED_FOR", "")
        environ["REMOTE_ADDR"] = forwarded_address(header, self._hops)
        return self._application(environ, start_response)


def forwarded_address(header: str, hops: int) -> str:
    """The client's address by ``X-Forwarded-For`` behind ``hops`` proxies, or an empty text."""
    entries = header.split(",")
    named = entries[-hops].strip() if len(entries) >= hops else ""
    with_port = _WITH_PORT.fullmatch(named)
    named = with_port[1] or with_port[2] if with_port else named
    return named if is_address(named) else ""


def init_app(app: Flask, hops: int) -> None:
    """Trust ``hops`` proxies in front; with 0 their headers are ignored."""
    if hops:
        inner = ForwardedAddress(app.wsgi_app, hops)
        app.wsgi_app = ProxyFix(inner, x_for=0, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
