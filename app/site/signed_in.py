"""Who is signed in in a browser, and how that begins and ends."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any, Final
from urllib.parse import quote

from flask import Response, current_app, g, request
from itsdangerous import BadSignature, URLSafeTimedSerializer

from app.auth.people import KnownBrowser
from app.auth.principal import Principal
from app.auth.sessions import (
    SignedIn,
    end_session,
    find_session,
    principal_of,
    record_session_use,
    start_session,
)
from app.http.errors import Unauthorized
from app.policy.people import KNOWN_BROWSER_LIFE, SESSION_LIFE
from app.site.cookies import read_cookie, set_cookie
from app.site.pages import redirect_to
from app.site.protection import check_origin, new_forms

View = Callable[..., Any]

_SESSION: Final = "canopy_session"
_KNOWN: Final = "canopy_known"


def current_person() -> SignedIn | None:
    """Who is signed in in this browser, or None."""
    if "person" not in g:
        token = read_cookie(_SESSION)
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
            return redirect_to(f"/login?next={quote(target, safe='')}")
        record_session_use(person)
        return view(person, **arguments)

    run.is_for_signed_in = True  # type: ignore[attr-defined]  # for the generated documentation
    return run


def with_person(view: View) -> View:
    """A view for anybody, whose page shows who is signed in."""

    @wraps(view)
    def run(**arguments: Any) -> Any:
        current_person()
        return view(**arguments)

    return run


def person_asking() -> Principal:
    """Who is signed in, as the caller of a route that programs call with a token.

    Raises:
        Unauthorized: nobody is, or they belong to no account.
        Forbidden: a page of another site asks.
    """
    person = current_person()
    if person is None:
        raise Unauthorized
    g.principal = principal = principal_of(person)
    check_origin()
    record_session_use(person)
    return principal


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
    new_forms()
    seconds = int(SESSION_LIFE.total_seconds())
    set_cookie(response, _SESSION, token, seconds)
    known = _signer().dumps([user_id, secrets.token_urlsafe(9)])
    set_cookie(response, _KNOWN, known, int(KNOWN_BROWSER_LIFE.total_seconds()))


def sign_out(response: Response) -> Response:
    """Let the browser forget its session, which has ended."""
    new_forms()
    set_cookie(response, _SESSION, "", 0)
    return response


def known_browser() -> KnownBrowser | None:
    """Who was signed in last in this browser, or None."""
    cookie = read_cookie(_KNOWN)
    try:
        life = int(KNOWN_BROWSER_LIFE.total_seconds())
        (user_id, browser), since = _signer().loads(cookie, max_age=life, return_timestamp=True)
    except (BadSignature, ValueError, TypeError):
        return None
    return KnownBrowser(str(user_id), str(browser), since)


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or "", salt="known browser")
