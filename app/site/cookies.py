"""Cookies of pages: for this host only, and not readable by scripts."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from app.settings.current import current_settings
from config import Settings

ATTEMPT: Final = "canopy_sign_in"  # an attempt to sign in at the provider


def read_cookie(name: str) -> str:
    """Return the value of a cookie, or an empty string."""
    return request.cookies.get(cookie_name(name, current_settings()), "")


def set_cookie(response: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie for a number of seconds; 0 deletes it."""
    settings = current_settings()
    response.set_cookie(
        cookie_name(name, settings),
        value,
        max_age=seconds,
        path="/",
        secure=settings.is_https,
        httponly=True,
        samesite="Lax",
    )


def cookie_name(name: str, settings: Settings) -> str:
    """Return the full name, with __Host- on https, so that other hosts cannot set it
    (RFC 6265bis)."""
    return f"__Host-{name}" if settings.is_https else name
