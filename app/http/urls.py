"""URLs of this service, as clients see them."""

from __future__ import annotations

from typing import Final

from flask import request

from app.settings.current import current_settings

AUTHORIZE: Final = "/oauth/authorize"  # where an application asks a person for access
OGC: Final = "/ogc"  # OGC API Features, for programs that draw maps


def absolute_url(path: str) -> str:
    """The URL of a path, which begins with a slash: at ``PUBLIC_URL`` if it is set, else at the
    scheme and host of the current request."""
    settings = current_settings()
    if settings.public_url_is_set:
        return f"{settings.public_url}{path}"
    return f"{request.scheme}://{request.host}{path}"


def is_ogc(path: str) -> bool:
    """True if a path belongs to OGC API Features."""
    return path == OGC or path.startswith(f"{OGC}/")
