"""Authentication and permissions of all operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from flask import Response, request

from app.auth.guard import ANY_CREDENTIAL, has_credential, permitted_principal, set_permission
from app.auth.map_clients import CHALLENGE
from app.auth.principal import Principal
from app.http.errors import Forbidden, Unauthorized
from app.limits.limiter import enforce_limit, limit_of_account
from app.site.signed_in import current_person, signed_in_principal

View = Callable[..., Response]

_READS: Final = ("GET", "HEAD")
_HOW: Final = (
    "Authentication is required. Send an API key as the password of HTTP Basic authentication "
    "with any user name, in the header X-Api-Key, as the parameter key, or as a bearer token."
)


def needs_permission(permission: str) -> Callable[[View], View]:
    """Return a decorator for views that need a permission, or ``app.auth.guard.ANY_CREDENTIAL``,
    and take the principal as their first argument."""

    def decorate(view: View) -> View:
        @wraps(view)
        def run(*args: object, **ids: str) -> Response:
            return view(_permitted_principal(permission), *args, **ids)

        set_permission(run, permission)
        return run

    return decorate


def _permitted_principal(permission: str) -> Principal:
    """The principal of this request, who has the permission. Sessions of browsers may only read.

    Raises:
        Unauthorized: there is no valid credential. Programs ask for a user name and a password.
        Forbidden: the permission is missing, or another site made a browser send the request.
    """
    if not has_credential() and request.method in _READS:
        person = current_person()
        if person is not None and person.account_id is not None:
            return _principal_of_person(permission)
    try:
        return permitted_principal(permission)
    except Unauthorized as refusal:
        challenges = refusal.headers["WWW-Authenticate"]
        if not has_credential() or "invalid_request" in challenges:
            refusal.message = _HOW
        refusal.headers["WWW-Authenticate"] = f"{CHALLENGE}, {challenges}"
        raise


def _principal_of_person(permission: str) -> Principal:
    """The principal of the person who is signed in."""
    principal = signed_in_principal()
    enforce_limit(limit_of_account(principal))
    if permission != ANY_CREDENTIAL and not principal.may(permission):
        raise Forbidden("role", f"Your role in this account lacks the permission {permission}.")
    return principal
