"""The outermost layer of the application: request ids, arrival times and security headers.

It is WSGI middleware, so that it also covers requests that Flask itself rejects.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask

from app.http.urls import is_ogc
from app.security.masking import without_secrets
from app.values.ids import new_id

REQUEST_ID: Final = "canopy.request_id"
STARTED: Final = "canopy.started"  # on the clock of time.perf_counter

_KEPT_ID: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
# What a page sets for its own policy: no form-action; origins of images, separated by spaces.
NO_FORM_ACTION: Final = "canopy.no_form_action"
IMAGE_ORIGINS: Final = "canopy.image_origins"

_IMAGES: Final = "img-src 'self' data:"
_FORM_ACTION: Final = "form-action 'self'; "
_POLICY: Final = (
    f"default-src 'none'; style-src 'self'; script-src 'self'; {_IMAGES}; "
    f"connect-src 'self'; font-src 'self'; base-uri 'none'; {_FORM_ACTION}"
    "frame-ancestors 'none'"
)
SECURITY_HEADERS: Final = [
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "strict-origin-when-cross-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(self), microphone=(), payment=(), usb=()"),
    ("Content-Security-Policy", _POLICY),
]
# For URLs that may contain a key.
_NO_REFERRER: Final = ("Referrer-Policy", "no-referrer")
_ON_HTTPS: Final = ("Strict-Transport-Security", "max-age=31536000")


class RequestMiddleware:
    """The middleware around the application."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ[STARTED] = time.perf_counter()
        sent = environ.get("HTTP_X_REQUEST_ID", "")
        request_id = sent if _is_kept(sent) else new_id("request")
        environ[REQUEST_ID] = request_id
        added = SECURITY_HEADERS
        if environ["wsgi.url_scheme"] == "https":
            added = [*added, _ON_HTTPS]
        if is_ogc(environ.get("PATH_INFO", "")):
            added = [_NO_REFERRER if name == _NO_REFERRER[0] else (name, v) for name, v in added]

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            security = added
            if NO_FORM_ACTION in environ:
                security = [(name, value.replace(_FORM_ACTION, "")) for name, value in added]
            elif origins := environ.get(IMAGE_ORIGINS):
                images = f"{_IMAGES} {origins}"
                security = [(name, value.replace(_IMAGES, images)) for name, value in added]
            return start_response(
                status, [*headers, ("X-Request-Id", request_id), *security], *exc_info
            )

        return self._application(environ, start)


def _is_kept(sent: str) -> bool:
    """True if the id that a client sent is well-formed, and no secret, which would be logged."""
    return _KEPT_ID.fullmatch(sent) is not None and without_secrets(sent) == sent


def init_app(app: Flask) -> None:
    """Wrap the application, inside ProxyFix, which sets the scheme."""
    app.wsgi_app = RequestMiddleware(app.wsgi_app)  # type: ignore[method-assign]
