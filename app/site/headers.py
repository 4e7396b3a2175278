"""Security headers on every response, those of the web framework's own refusals included."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask

_HEADERS: Final = [
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "strict-origin-when-cross-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'",
    ),
]
_ON_HTTPS: Final = [
    *_HEADERS,
    ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
]


class SecurityHeaders:
    """WSGI middleware: adds the headers as the response starts."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        added = _ON_HTTPS if environ["wsgi.url_scheme"] == "https" else _HEADERS

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(status, headers + added, *exc_info)

        return self._application(environ, start)


def init_app(app: Flask) -> None:
    """Wrap the application. Inside ProxyFix, which says whether the client came by https."""
    app.wsgi_app = SecurityHeaders(app.wsgi_app)  # type: ignore[method-assign]
