"""Security headers on every response."""

from __future__ import annotations

from typing import Final

from flask import Flask, Response, request

_HEADERS: Final = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
}
_HSTS: Final = "max-age=31536000; includeSubDomains"


def init_app(app: Flask) -> None:
    app.after_request(_protect)


def _protect(response: Response) -> Response:
    response.headers.extend(_HEADERS)
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = _HSTS
    return response
