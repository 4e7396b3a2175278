"""Pages for people: who is signed in, forms that cannot be forged, and how a page is answered."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, Final
from urllib.parse import quote, urlsplit

from flask import Blueprint, Flask, Response, current_app, flash, g, redirect, request, session
from flask import render_template as render
from flask_wtf.csrf import CSRFError, CSRFProtect, generate_csrf
from itsdangerous import BadSignature, URLSafeTimedSerializer
from markupsafe import Markup
from werkzeug.exceptions import RequestEntityTooLarge

from app.auth.principal import Principal
from app.auth.sessions import (
    SignedIn,
    end_session,
    find_session,
    note_session_use,
    principal_of,
    start_session,
)
from app.core.clock import shown_time
from app.core.edge import FORM_ACTION
from app.core.errors import BadRequest, Forbidden, PayloadTooLarge, Unauthorized
from app.people.service import KnownBrowser
from app.policy.people import FORM_BYTES, FORM_LIFE, KNOWN_BROWSER_LIFE, SESSION_LIFE
from config import Settings

View = Callable[..., Any]

_csrf = CSRFProtect()
_SESSION_COOKIE: Final = "canopy_session"
_KNOWN_COOKIE: Final = "canopy_known"
_FORMS_COOKIE: Final = "canopy_forms"
_LONGEST_PATH: Final = 8_000  # characters; an authorization request of an application is long


def init_app(app: Flask, settings: Settings) -> None:
    app.secret_key = settings.secret_key
    app.config.update(
        SESSION_COOKIE_NAME=_cookie(_FORMS_COOKIE, settings),
        SESSION_COOKIE_SECURE=settings.is_https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_CHECK_DEFAULT=False,  # pages ask for it; the API has no cookies to misuse
        WTF_CSRF_SSL_STRICT=False,  # the origin is checked below, where Referer need not be sent
        WTF_CSRF_TIME_LIMIT=int(FORM_LIFE.total_seconds()),
    )
    _csrf.init_app(app)
    app.context_processor(lambda: {"person": g.get("person"), "csrf_field": _csrf_field})
    app.add_template_filter(_moment, "moment")


class PageBlueprint(Blueprint):
    """Pages: each post is from a form of ours, and belongs to who sees it."""

    def __init__(self, name: str, import_name: str, **options: Any) -> None:
        super().__init__(name, import_name, template_folder="templates", **options)
        self.before_request(protect)


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
            _check_origin()
            _csrf.protect()
        except RequestEntityTooLarge:
            raise PayloadTooLarge from None
        except CSRFError:
            raise Forbidden(
                "This form was open for too long, is from another sign-in, or this browser keeps "
                "no cookies. Go back, load the page anew, and send it again."
            ) from None


def _check_origin() -> None:
    """What the browser itself says of where a request comes from, if it does."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    own = {_origin(request.host_url), _origin(current_app.config["SETTINGS"].public_url)}
    if site not in (None, "same-origin", "none") or (origin is not None and origin not in own):
        raise Forbidden("This form was sent from another site.")


def page(template: str, status: int = 200, **values: Any) -> Response:
    """A page for the person at hand; no cache keeps it."""
    response = Response(render(template, **values), status, content_type="text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response


def see(path: str, message: str = "", kind: str = "done") -> Response:
    """Lead on to another page of ours, which shows the message.

    Args:
        kind: ``done`` or ``problem``.
    """
    if message:
        flash(message, kind)
    response: Any = redirect(path, 303)
    response.headers["Cache-Control"] = "no-store"
    return response  # type: ignore[no-any-return]


def allow_form_action(url: str) -> None:
    """Let a form of this page be answered with a redirect to the origin of ``url``: browsers hold
    that against the page's ``form-action``. A policy has no name for an IPv6 address or for a
    scheme of an application's own; there all of the scheme is allowed."""
    parts = urlsplit(url)
    is_named = parts.scheme in ("http", "https") and "[" not in parts.netloc
    request.environ[FORM_ACTION] = (
        f"{parts.scheme}://{parts.netloc}" if is_named else f"{parts.scheme}:"
    )


def current_person() -> SignedIn | None:
    """Who is signed in in this browser, or None."""
    if "person" not in g:
        token = request.cookies.get(_own_cookie(_SESSION_COOKIE), "")
        g.person = find_session(token) if token else None
    person: SignedIn | None = g.person
    return person


def signed_in(view: View) -> View:
    """A view for who is signed in, who is its first argument; anybody else signs in first."""

    @wraps(view)
    def run(**arguments: Any) -> Any:
        person = current_person()
        if person is None:
            target = request.full_path.rstrip("?") if request.method == "GET" else "/"
            return see(f"/login?next={quote(target, safe='')}")
        note_session_use(person)
        return view(person, **arguments)

    run.is_for_signed_in = True  # type: ignore[attr-defined]  # for the generated documentation
    return run


def person_asking() -> Principal:
    """Who is signed in, as the caller of a route that programs call with a token.

    Raises:
        Unauthorized: nobody is, or they belong to no account.
        Forbidden: a page of another site asks.
    """
    person = current_person()
    principal = None if person is None else principal_of(person)
    if person is None or principal is None:
        raise Unauthorized
    _check_origin()
    note_session_use(person)
    g.principal = principal
    return principal


def with_person(view: View) -> View:
    """A view for anybody, whose page shows who is signed in."""

    @wraps(view)
    def run(**arguments: Any) -> Any:
        current_person()
        return view(**arguments)

    return run


def own_path(target: str | None) -> str:
    """Where to go on after signing in: the path that was asked for, if it leads to this service."""
    if not target or not target.isprintable() or len(target) > _LONGEST_PATH:
        return "/"
    leads_away = "\\" in target or target.startswith("//") or not target.startswith("/")
    return "/" if leads_away else target


def sign_in(response: Response, user_id: str, account_id: str | None) -> None:
    """Sign a person in with a new session, in the transaction at hand. The one that this browser
    had ends, whosever it was."""
    before = current_person()
    if before is not None:
        end_session(before.user_id, before.session_id)
    token = start_session(
        user_id,
        account_id,
        address=request.remote_addr or "",
        browser=request.headers.get("User-Agent", ""),
    )
    _new_forms()
    seconds = int(SESSION_LIFE.total_seconds())
    _set_cookie(response, _SESSION_COOKIE, token, seconds)
    known = _known().dumps([user_id, secrets.token_urlsafe(9)])
    _set_cookie(response, _KNOWN_COOKIE, known, int(KNOWN_BROWSER_LIFE.total_seconds()))


def sign_out(response: Response) -> Response:
    """Let the browser forget its session, which has ended."""
    _new_forms()
    _set_cookie(response, _SESSION_COOKIE, "", 0)
    return response


def known_browser() -> KnownBrowser | None:
    """Who was signed in last in this browser, or None."""
    cookie = request.cookies.get(_own_cookie(_KNOWN_COOKIE), "")
    try:
        life = int(KNOWN_BROWSER_LIFE.total_seconds())
        (user_id, browser), since = _known().loads(cookie, max_age=life, return_timestamp=True)
    except (BadSignature, ValueError, TypeError):
        return None
    return KnownBrowser(str(user_id), str(browser), since)


def _csrf_field() -> Markup:
    """The hidden field of a form by which a post is known to be from it."""
    return Markup('<input type="hidden" name="csrf_token" value="{}">').format(generate_csrf())


def _moment(value: datetime | str) -> str:
    """A moment for people: ``2026-01-31, 14:05 UTC``."""
    shown = str(shown_time(value))
    return f"{shown[:10]}, {shown[11:16]} UTC"


def _new_forms() -> None:
    """Forms that were open before are not good any more; what they shall tell is kept."""
    told = session.get("_flashes")
    session.clear()
    if told:
        session["_flashes"] = told


def _known() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or "", salt="known browser")


def _set_cookie(response: Response, name: str, value: str, seconds: int) -> None:
    settings: Settings = current_app.config["SETTINGS"]
    response.set_cookie(
        _cookie(name, settings),
        value,
        max_age=seconds,
        path="/",
        secure=settings.is_https,
        httponly=True,
        samesite="Lax",
    )


def _own_cookie(name: str) -> str:
    return _cookie(name, current_app.config["SETTINGS"])


def _cookie(name: str, settings: Settings) -> str:
    """On https no other host of the domain can set it (RFC 6265bis, "__Host-")."""
    return f"__Host-{name}" if settings.is_https else name


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
