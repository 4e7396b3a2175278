"""May they: the principal of the request at hand, and the permission that an operation needs."""

from __future__ import annotations

from flask import g, request

from app.auth.credentials import authenticate, note_use
from app.auth.principal import Principal
from app.core.errors import Forbidden, Unauthorized

ANY_CREDENTIAL = "any"


def identify() -> None:
    """Find out who is asking, and refuse nobody: the outcome is kept for ``require``.

    Runs before a route is entered, so that limits, logs and unknown routes know the account too.
    """
    try:
        g.principal = authenticate(request.headers.get("Authorization"), request.remote_addr or "")
    except Unauthorized as refusal:
        g.principal = None
        g.refusal = refusal


def current_principal() -> Principal | None:
    """The principal of this request, or None when nobody was identified."""
    principal: Principal | None = g.get("principal")
    return principal


def require(permission: str) -> Principal:
    """The principal, who holds ``permission``.

    Args:
        permission: a permission of the policy, or ``ANY_CREDENTIAL``.

    Raises:
        Unauthorized: no valid credential was sent.
        Forbidden: the credential lacks the permission; the message names it.
    """
    principal = current_principal()
    if principal is None:
        raise g.get("refusal") or Unauthorized()
    note_use(principal)
    if permission != ANY_CREDENTIAL and not principal.may(permission):
        raise Forbidden(f"The credential lacks the permission {permission}.")
    return principal
