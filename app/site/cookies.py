"""Cookies of pages: for this host alone, and out of the reach of scripts."""

from __future__ import annotations

from flask import Response, current_app, request

from config import Settings


def read_cookie(name: str) -> str:
    """What this browser keeps under a name, or an empty text."""
    return request.cookies.get(cookie_name(name, current_app.config["SETTINGS"]), "")


def set_cookie(response: Response, name: str, value: str, seconds: int) -> None:
    """Have the browser keep a value for so long; 0 seconds have it forget the cookie."""
    settings: Settings = current_app.config["SETTINGS"]
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
    """On https no other host of the domain can set it (RFC 6265bis, "__Host-")."""
    return f"__Host-{name}" if settings.is_https else name
