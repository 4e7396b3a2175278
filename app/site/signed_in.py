"""The signed-in person: finding them, signing in and signing out."""

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
    save_session_use,
    start_session,
)
from app.http.errors import Forbidden, Unauthorized
from app.limits.counting import count_page_request
from app.policy.people import KNOWN_BROWSER_LIFE, SESSION_LIFE
from app.policy.permissions import ROLES, expand_permissions, role_permissions
from app.policy.rate_limits import PAGE_REQUESTS
from app.security.timed_signer import TimedSigner
from app.site.cookies import read_cookie, set_cookie
from app.site.pages import article, instance, page, redirect_to
from app.site.protection import View, check_origin, renew_form_secret

_SESSION: Final = "canopy_session"
_KNOWN_BROWSER: Final = "canopy_known"


def current_person() -> SignedIn | None:
    """Return the person who is signed in, or None."""
    if "person" not in g:
        token = session_token()
        g.person = find_session(token) if token else None
    person: SignedIn | None = g.person
    return person


def may_be_signed_in() -> bool:
    """True if this browser has the cookie of a session, which may have ended. Does not query
    the database."""
    return bool(session_token())


def session_token() -> str:
    """Return the session token of this browser, or an empty string."""
    return read_cookie(_SESSION)


def login_path() -> str:
    """Return the path of the sign-in page, which leads back to the current one."""
    target = request.full_path.rstrip("?") if request.method == "GET" else "/"
    return f"/login?next={quote(target, safe='')}"


def signed_in(view: View) -> View:
    """Decorate a view that gets the signed-in person as its first argument. PAGE_REQUESTS limits
    their requests; others are redirected to the sign-in page."""

    @wraps(view)
    def run(**arguments: Any) -> Any:
        person = current_person()
        if person is None:
            return _turn_away_strangers()
        _count_request(person)
        save_session_use(person)
        return view(person, **arguments)

    run.requires_sign_in = True  # type: ignore[attr-defined]  # for the generated documentation
    run.turn_away = _turn_away_strangers  # type: ignore[attr-defined]  # for protection
    run.limits = (PAGE_REQUESTS,)  # type: ignore[attr-defined]  # for ``flask limiter``
    return run


def _count_request(person: SignedIn) -> None:
    """Count the current request to a page, once. Raises RateLimited."""
    if not g.get("is_counted"):
        g.is_counted = True
        count_page_request(person.user_id)


def _turn_away_strangers() -> Response | None:
    """Return a redirect to the sign-in page, or None for somebody who is signed in. Raises
    Unauthorized for a script, which cannot use a page."""
    if current_person() is not None:
        return None
    if is_from_script():
        raise Unauthorized("You are signed out. Sign in again to continue.")
    return redirect_to(login_path())


def of_account(permission: str, *, owners_only: bool = False) -> Callable[[View], View]:
    """Decorate a view of the account that the signed-in person works in. It gets their principal as
    its first argument. A form that was loaded in another account is refused.

    Args:
        permission: the permission that their role must include.
        owners_only: refuse other roles, even if they include the permission.
    """

    def enter(person: SignedIn) -> Response | None:
        if g.get("entered") == permission:  # checked before a large form was read
            return None
        _count_request(person)
        if person.account_id is None:
            return redirect_to("/accounts", "Create an account, or ask for an invitation.")
        if person.is_overdue and not is_from_script():
            return redirect_to("/profile/second-factor")
        g.principal = principal = principal_of(person)
        if owners_only and person.role != "owner":
            raise Forbidden("role", "Only owners of the account can do this.")
        if not principal.may(permission):
            raise Forbidden("role", _needed_role(person, permission))
        g.entered = permission
        return None

    def turn_away() -> Response | None:
        person = current_person()
        return _turn_away_strangers() if person is None else enter(person)

    def decorate(view: View) -> View:
        @wraps(view)
        def run(person: SignedIn, **arguments: Any) -> Any:
            response = enter(person)
            return view(_principal_of_form(), **arguments) if response is None else response

        wrapped = signed_in(run)
        # for the generated documentation
        wrapped.role_permission = permission  # type: ignore[attr-defined]
        wrapped.turn_away = turn_away  # type: ignore[attr-defined]
        return wrapped

    return decorate


def _principal_of_form() -> Principal:
    """Return the principal of an account. Raises Forbidden for a form that was loaded in another
    account."""
    principal: Principal = g.principal
    if request.form.get("account", principal.account_id) != principal.account_id:
        message = "This form is for another account. Switch to that account, and send it again."
        raise Forbidden("other_site", message)
    return principal


def of_operator(view: View) -> View:
    """Decorate a view for operators with a confirmed address. Others get a 403 that says why, and
    people who are not signed in the sign-in page."""

    @wraps(view)
    def run(person: SignedIn, **arguments: Any) -> Any:
        if not person.is_operator:
            raise Forbidden("role", "This page is for operators of this instance.")
        if not person.is_verified:
            message = "Confirm your email address first: request a link on your profile."
            raise Forbidden("email_unconfirmed", message)
        return view(**arguments)

    wrapped = signed_in(run)
    wrapped.for_operators = True  # type: ignore[attr-defined]  # for the generated documentation
    return wrapped


def with_passwords(view: View) -> View:
    """Decorate a view that needs passwords. Where ``PASSWORD_SIGN_IN`` is false, a page says what
    to do instead."""

    @wraps(view)
    def run(*positional: Any, **arguments: Any) -> Any:
        if instance().password_sign_in:
            return view(*positional, **arguments)
        current_person()
        return page("no_passwords.html", 403)

    return run


def _needed_role(person: SignedIn, permission: str) -> str:
    """Return the message for a role without a permission."""
    roles = [
        f"{role}s" for role in ROLES if permission in expand_permissions(role_permissions(role))
    ]
    return (
        f"You are {article(person.role)} {person.role} in {person.account_name}. Only "
        f"{', '.join(roles[:-1])} and {roles[-1]} can do this. "
        "Ask an owner or admin to change your role."
    )


def is_from_script() -> bool:
    """True if a script sent the request, which cannot use a whole page."""
    return "HX-Request" in request.headers or "X-Requested-With" in request.headers


def with_person(view: View) -> View:
    """Decorate a view for everybody whose page shows the signed-in person."""

    @wraps(view)
    def run(**arguments: Any) -> Any:
        current_person()
        return view(**arguments)

    return run


def signed_in_principal() -> Principal:
    """Return the principal of the signed-in person for a route of the API.

    Raises:
        Unauthorized: nobody is signed in, or they belong to no account.
        Forbidden: the request comes from another site.
    """
    person = current_person()
    if person is None:
        raise Unauthorized
    g.principal = principal = principal_of(person)
    check_origin()
    save_session_use(person)
    return principal


def sign_in(
    response: Response, user_id: str, account_id: str | None, *, confirmed: bool = False
) -> None:
    """Start a new session in the current transaction, and end the one that this browser had.

    This is the last step: after a password or a mailed link, use
    ``app.site.second_step.begin_sign_in``.

    Args:
        confirmed: True if they have just given their second factor or, without one, their password.
    """
    before = current_person()
    if before is not None:
        end_session(before.user_id, before.session_id)
    token = start_session(
        user_id,
        account_id,
        address=request.remote_addr or "",
        browser=request.headers.get("User-Agent", ""),
        confirmed=confirmed,
    )
    renew_form_secret()
    seconds = int(SESSION_LIFE.total_seconds())
    set_cookie(response, _SESSION, token, seconds)
    browser = _session_signer().dumps([user_id, secrets.token_urlsafe(9)])
    set_cookie(response, _KNOWN_BROWSER, browser, int(KNOWN_BROWSER_LIFE.total_seconds()))


def sign_out(response: Response) -> Response:
    """Delete the cookie of the session and the browser's cache, with its maps and files. The caller
    has ended the session."""
    renew_form_secret()
    set_cookie(response, _SESSION, "", 0)
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def known_browser() -> KnownBrowser | None:
    """Return the id of this browser and the last person who signed in, or None."""
    cookie = read_cookie(_KNOWN_BROWSER)
    try:
        life = int(KNOWN_BROWSER_LIFE.total_seconds())
        (user_id, browser), since = _session_signer().loads(
            cookie, max_age=life, return_timestamp=True
        )
    except (BadSignature, ValueError, TypeError):
        return None
    return KnownBrowser(str(user_id), str(browser), since)


def _session_signer() -> URLSafeTimedSerializer:
    key = current_app.secret_key or ""
    return URLSafeTimedSerializer(key, salt="known browser", signer=TimedSigner)
