"""What keeps forms from being forged: each carries a secret of the browser that loaded it, and what
the browser says of its origin has to fit."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from flask import Flask, Request, current_app, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_wtf.csrf import CSRFError, CSRFProtect, generate_csrf
from markupsafe import Markup
from werkzeug.exceptions import RequestEntityTooLarge

from app.http.errors import BadRequest, Forbidden, PayloadTooLarge
from app.policy.people import FORM_BYTES, FORM_LIFE
from app.site.cookies import cookie_name
from config import Settings

_csrf = CSRFProtect()
_COOKIE: Final = "canopy_forms"


class PageSessions(SecureCookieSessionInterface):
    """Flask's session, which holds the secret of forms and what the next page tells. The API has
    none: to look for it takes a tenth of a request."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        is_api = request.path.startswith(("/v1/", "/api/"))
        return None if is_api else super().open_session(app, request)


def init_app(app: Flask, settings: Settings) -> None:
    app.secret_key = settings.secret_key
    app.session_interface = PageSessions()
    app.config.update(
        SESSION_COOKIE_NAME=cookie_name(_COOKIE, settings),
        SESSION_COOKIE_SECURE=settings.is_https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_CHECK_DEFAULT=False,  # pages ask for it; the API has no cookies to misuse
        WTF_CSRF_SSL_STRICT=False,  # the origin is checked below, where Referer need not be sent
        WTF_CSRF_TIME_LIMIT=int(FORM_LIFE.total_seconds()),
    )
    _csrf.init_app(app)


def protect() -> None:
    """Refuse a post that another site made this browser send.

    Raises:
        PayloadTooLarge: no form of ours is as long.
        BadRequest: it comes in chunks, as no browser sends it, and werkzeug would cut it short.
        Forbidden: it comes from elsewhere, or the form was open for too long.
    """
    request.max_content_length = FORM_BYTES
    if request.method == "POST":
        if "HTTP_TRANSFER_ENCODING" in request.environ:
            raise BadRequest("Send the form with its length, not in chunks.")
        try:
            check_origin()
            _csrf.protect()
        except RequestEntityTooLarge:
            raise PayloadTooLarge from None
        except CSRFError:
            raise Forbidden(
                "This form was open for too long, is from another sign-in, or this browser keeps "
                "no cookies. Go back, load the page anew, and send it again."
            ) from None


def check_origin() -> None:
    """What the browser itself says of where a request comes from, if it does. Raises Forbidden for
    another site."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    own = {_origin(request.host_url), _origin(current_app.config["SETTINGS"].public_url)}
    if site not in (None, "same-origin", "none") or (origin is not None and origin not in own):
        raise Forbidden("This form was sent from another site.")


def csrf_field() -> Markup:
    """The hidden field of a form by which a post is known to be from it."""
    return Markup('<input type="hidden" name="csrf_token" value="{}">').format(generate_csrf())


def new_forms() -> None:
    """Forms that were open before are not good any more; what they shall tell is kept."""
    told = session.get("_flashes")
    session.clear()
    if told:
        session["_flashes"] = told


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
