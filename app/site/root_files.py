"""Files that browsers and programs look for at the root: icon, robots.txt, security.txt."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

from flask import Blueprint, Response

from app.http.errors import NotFound
from app.settings.current import current_settings
from app.site.pages import instance
from app.values import clock

bp = Blueprint("root_files", __name__)

_ICON: Final = (Path(__file__).parent / "static" / "images" / "favicon.ico").read_bytes()
_CONTACT_LIFE: Final = timedelta(days=180)  # RFC 9116 recommends less than a year
# Search engines get what strangers may see.
_ROBOTS: Final = """\
User-agent: *
Allow: /$
Allow: /docs$
Allow: /docs/guides
Allow: /llms.txt$
Allow: /static/
Disallow: /
"""


@bp.get("/favicon.ico")
def favicon() -> Response:
    """The icon, for browsers that ask for it here."""
    response = Response(_ICON, content_type="image/x-icon")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


@bp.get("/robots.txt")
def robots() -> Response:
    """The rules for search engines."""
    return Response(_ROBOTS, content_type="text/plain; charset=utf-8")


@bp.get("/.well-known/security.txt")
def security() -> Response:
    """The contact for vulnerabilities (RFC 9116), which is SUPPORT_EMAIL, or 404 without it."""
    contact = instance().support_email
    if contact is None:
        raise NotFound
    public_url = current_settings().public_url
    expires = clock.format_time(clock.now() + _CONTACT_LIFE)
    text = (
        f"Contact: mailto:{contact}\nExpires: {expires}\n"
        f"Canonical: {public_url}/.well-known/security.txt\n"
    )
    return Response(text, content_type="text/plain; charset=utf-8")
