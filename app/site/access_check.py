"""Checks during a long request that its caller still has access."""

from __future__ import annotations

from collections.abc import Callable

from flask import request

from app.auth.credentials import authenticate_header
from app.auth.guard import current_principal, has_credential
from app.auth.memberships import memberships_of
from app.auth.principal import Principal
from app.auth.sessions import find_session
from app.http.errors import Forbidden
from app.policy.permissions import expand_permissions, role_permissions
from app.site.signed_in import session_token


def access_check() -> Callable[[], None]:
    """Return a function that checks the access of this request's caller again. It works outside the
    request's context.

    It raises:
        Unauthorized: their key or token is revoked or has expired.
        Forbidden: they have signed out, are no longer a member, or lost permissions.
    """
    before = current_principal()
    if before is not None and has_credential():
        header, address = request.headers.get("Authorization"), request.remote_addr or ""
        return lambda: _compare_access(before, authenticate_header(header, address))
    token = session_token()
    return lambda: _check_session(token, before)


def _compare_access(before: Principal, now: Principal) -> None:
    if not before.permissions <= now.permissions or before.project_ids != now.project_ids:
        raise _access_ended()


def _check_session(token: str, before: Principal | None) -> None:
    """Check the access of a browser. ``before`` is None in the log of the instance."""
    person = find_session(token)
    if person is None or (before is None and not person.is_operator):
        raise _access_ended()
    if before is not None:
        # They may have switched to another account.
        roles = {row.id: row.role for row in memberships_of(person.user_id)}
        role = roles.get(before.account_id)
        if role is None or not before.permissions <= expand_permissions(role_permissions(role)):
            raise _access_ended()


def _access_ended() -> Forbidden:
    return Forbidden("role", "This access has ended, or allows less than before.")
