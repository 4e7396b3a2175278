"""The client as reverse proxies describe it: its address, and the scheme and host that it used.

Each proxy appends the address that it was reached from to ``X-Forwarded-For``. So with n trusted
proxies the client's address is the n-th from the end; anybody can have written those before it. The
header is a list separated by commas and nothing else: a parser that also knows quotes would let a
client hide the rest of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from app.outbound.addresses import is_address

_WITH_PORT: Final = re.compile(r"([0-9.]+):[0-9]{1,5}|\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?")


class ForwardedAddress:
    """WSGI middleware that sets REMOTE_ADDR from the header of ``hops`` trusted proxies.

    Some proxies write a port behind the address, which is left out. Where the header does not have
    as many entries, or the entry is no address, the client is unknown: the address is empty, which
    is on no allowlist, and never the proxy's own.
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
