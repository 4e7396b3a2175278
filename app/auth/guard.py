"""The principal of the current request, and checks of the permission that an operation needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import g, request
from sqlalchemy import bindparam, select
from sqlalchemy.exc import SQLAlchemyError

from app.auth.credentials import authenticate_header
from app.auth.last_use import ACCESS_TOKEN, APPLICATION, CREDENTIAL, MEMBER, save_last_use
from app.auth.principal import Principal
from app.db.queries import CompiledQuery
from app.http.errors import BEARER, Forbidden, NotFound, Unauthorized
from app.models import Account, User
from app.policy.permissions import PROFILE, ROLES, SCOPES

ANY_CREDENTIAL = "any"
OR = " or "
_ACCOUNT: Final = CompiledQuery(select(Account.id).where(Account.id == bindparam("id")))
_PERSON: Final = CompiledQuery(select(User.id).where(User.id == bindparam("id")))


def set_permission(view: Any, permission: str) -> None:
    """Declare the permission of a view; tests check that every operation has one."""
    view.permission = permission


def identify_caller(credential: str | None, is_needed: Callable[[], bool] = lambda: True) -> None:
    """Authenticate the request without rejecting it: ``permitted_principal`` raises the error, if
    any.

    Runs before the route, so that limits, logs and unknown routes know the account too.

    Args:
        credential: the value of an Authorization header, or None.
        is_needed: returns True if the route requires one. Other routes work while the database is
            down.
    """
    g.has_credential = credential is not None
    try:
        g.principal = authenticate_header(credential, request.remote_addr or "")
    except Unauthorized as refusal:
        g.principal = None
        g.refusal = refusal
    except SQLAlchemyError:
        if is_needed():
            raise
        g.principal = None


def has_credential() -> bool:
    """True if this request has a credential, valid or not."""
    return bool(g.get("has_credential"))


def current_principal() -> Principal | None:
    """The principal of this request, or None without a valid credential."""
    principal: Principal | None = g.get("principal")
    return principal


def is_caller_deleted() -> bool:
    """True if the account or person of this request was deleted while it ran; False if the
    database is down."""
    caller: Any = current_principal() or g.get("person")
    if caller is None:
        return False
    checks = ((_ACCOUNT, caller.account_id), (_PERSON, caller.user_id))
    try:
        return any(row_id and query.first(id=row_id) is None for query, row_id in checks)
    except SQLAlchemyError:
        return False


def permitted_principal(permission: str) -> Principal:
    """Return the principal, who has ``permission``.

    Args:
        permission: a permission of the policy, alternatives joined by ``OR``, ``PROFILE``, or
            ``ANY_CREDENTIAL``.

    Raises:
        Unauthorized: no valid credential was sent.
        Forbidden: the credential lacks the permission; the message names it, and a challenge the
            scope, if a wider consent would help.
    """
    principal = current_principal()
    if principal is None:
        raise g.get("refusal") or Unauthorized()
    _save_last_use(principal)
    is_for_all = permission == ANY_CREDENTIAL or (
        permission == PROFILE and principal.scopes is None
    )
    if not is_for_all and not any(map(principal.may, permission.split(OR))):
        raise _lacks(principal, permission)
    return principal


def require_permission(principal: Principal, permission: str) -> None:
    """Raise Forbidden, as ``permitted_principal`` does, if the principal lacks a permission."""
    if not principal.may(permission):
        raise _lacks(principal, permission)


def require_project(principal: Principal, project_id: str | None) -> None:
    """Check that a credential that is limited to some projects includes this one.

    Args:
        project_id: the id of the project; None for the whole account.

    Raises:
        NotFound: it may not see this project.
        Forbidden: it may not see the account.
    """
    if principal.sees(project_id):
        return
    if project_id is not None:
        raise NotFound("This project does not exist.")
    raise Forbidden(
        "limited_to_projects",
        "This credential is limited to some projects, and this is about the whole account. Use one "
        "that is not limited.",
    )


def _save_last_use(principal: Principal) -> None:
    ids = {
        "id": principal.credential_id,
        "account_id": principal.account_id,
        "user_id": principal.user_id,
        "address": request.remote_addr or "",
        "token_hash": principal.unused_token,
    }
    if principal.unused_token:
        save_last_use(None, ids, ACCESS_TOKEN, APPLICATION, MEMBER)
        return
    is_application = principal.kind == "oauth"
    touches = (APPLICATION, MEMBER) if is_application else (CREDENTIAL,)
    save_last_use(principal.last_used_at, ids, *touches)


def _lacks(principal: Principal, permission: str) -> Forbidden:
    if principal.scopes is None:
        message = f"This credential lacks the permission {permission}."
        return Forbidden("missing_permission", message)
    scopes = [name for name in permission.split(OR) if name in SCOPES]
    if not scopes:
        return Forbidden(
            "missing_permission",
            f"This needs the permission {permission}, which OAuth tokens cannot have. "
            "Use an API key.",
        )
    allowed = [name for name in scopes if name in ROLES[principal.role] | {PROFILE}]
    if not allowed:  # so that a wider consent would not help
        return Forbidden(
            "role",
            f"The person that this application acts for lacks the permission {permission} in "
            "this account.",
        )
    return Forbidden(
        "missing_scope",
        f"This OAuth token lacks the scope {permission}.",
        headers={"WWW-Authenticate": f'{BEARER}, error="insufficient_scope", scope="{allowed[0]}"'},
    )
