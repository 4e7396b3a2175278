"""Registering, listing, changing and deleting OAuth applications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import bindparam, func

from app.audit.entries import changes_between, changes_of_new, write_entry
from app.auth.tenant import columns_of, find_locked
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden, InvalidField
from app.models import Account, OAuthApplication
from app.oauth.applications.client_secrets import new_secret, secret_mark, still_works
from app.oauth.applications.validation import check_application
from app.oauth.consents import revoke_consents_to, write_end_of_access
from app.policy.oauth import APPLICATIONS_PER_ACCOUNT
from app.policy.permissions import SCOPES
from app.security import tokens
from app.values import clock
from app.values.ids import is_id, new_id

_AUDITED: Final = ("name", "redirect_uris", "scopes", "public")
_RECORDS = columns_of(
    OAuthApplication,
    OAuthApplication.id,
    OAuthApplication.account_id,
    OAuthApplication.name,
    OAuthApplication.redirect_uris,
    OAuthApplication.scopes,
    OAuthApplication.secret_hash,
    OAuthApplication.former_secret_until,
    OAuthApplication.created_at,
)
_ALL = CompiledQuery(_RECORDS.order_by(OAuthApplication.id.desc()))
_ONE = CompiledQuery(_RECORDS.where(OAuthApplication.id == bindparam("client_id")))
_NUMBER = columns_of(OAuthApplication).add_columns(func.count())


def create_application(
    account_id: str,
    *,
    name: str,
    redirect_uris: Sequence[str],
    scopes: Sequence[str],
    public: bool = False,
) -> tuple[OAuthApplication, str | None]:
    """Register an application. Returns it and its secret, of which only the hash is stored.

    Args:
        scopes: the scopes that it may request.
        public: it cannot keep a secret, because it runs on people's devices or in their browsers.
            It gets none and must use PKCE.

    Raises:
        ValidationFailed: names each invalid argument.
        Forbidden: the account has the maximum.
    """
    check_application(name, redirect_uris, scopes)
    _check_application_count(account_id)
    secret = None if public else new_secret()
    now = clock.now()
    application = OAuthApplication(
        id=new_id("application"),
        account_id=account_id,
        name=name.strip(),
        redirect_uris=list(dict.fromkeys(redirect_uris)),
        scopes=[scope for scope in SCOPES if scope in scopes],
        secret_hash=None if secret is None else tokens.hash_token(secret),
        created_at=now,
        updated_at=now,
    )
    db.session.add(application)
    changes = changes_of_new(application_record(application), *_AUDITED)
    write_entry("application.created", application, changes=changes)
    return application, secret


def list_applications(account_id: str) -> list[dict[str, Any]]:
    """List the records of an account's applications, newest first."""
    return [application_record(row) for row in _ALL.all(account_id=account_id)]


def find_application(account_id: str, client_id: str) -> dict[str, Any] | None:
    """Read the record of an application, or None if the account has no such application.

    It also has the ``secret_mark`` for ``rotate_secret``; None for a public application.
    """
    if not is_id("application", client_id):
        return None
    row = _ONE.first(account_id=account_id, client_id=client_id)
    if row is None:
        return None
    mark = None if row.secret_hash is None else secret_mark(row.secret_hash)
    return application_record(row) | {"secret_mark": mark}


def update_application(
    account_id: str,
    client_id: str,
    *,
    name: str | None = None,
    redirect_uris: Sequence[str] | None = None,
    scopes: Sequence[str] | None = None,
) -> tuple[dict[str, Any], int] | None:
    """Change the given fields of an application; lists replace the current ones.

    Consents that include a removed scope are revoked with their tokens, so that people are asked
    again. They are asked about an added redirect URI when it is first used.

    Returns:
        The record and the number of revoked consents, or None if the account has no such
        application.

    Raises:
        ValidationFailed: names each invalid argument.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    name = application.name if name is None else name
    redirect_uris = application.redirect_uris if redirect_uris is None else redirect_uris
    former, before = application_record(application), application.scopes
    scopes = application.scopes if scopes is None else scopes
    check_application(name, redirect_uris, scopes)
    application.name = name.strip()
    application.redirect_uris = list(dict.fromkeys(redirect_uris))
    application.scopes = [scope for scope in SCOPES if scope in scopes]
    application.updated_at = clock.now()
    present = application_record(application)
    changes = changes_between(former, present, *_AUDITED)
    write_entry("application.updated", application, changes=changes)
    return present, revoke_consents_to(application, set(before) - set(scopes))


def delete_application(account_id: str, client_id: str) -> bool:
    """Delete an application with its consents and tokens. Returns False if the account has none."""
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return False
    write_entry("application.deleted", application)
    write_end_of_access(application)
    db.session.delete(application)
    return True


def application_record(application: Any) -> dict[str, Any]:
    """Build the record of an application, without the secret.

    Args:
        application: an ``OAuthApplication``, or a row of its columns.
    """
    until = application.former_secret_until
    return {
        "client_id": application.id,
        "account_id": application.account_id,
        "name": application.name,
        "redirect_uris": application.redirect_uris,
        "scopes": application.scopes,
        "public": application.secret_hash is None,
        "former_secret_until": clock.format_optional_time(until) if still_works(until) else None,
        "created_at": clock.format_optional_time(application.created_at),
    }


def _check_application_count(account_id: str) -> None:
    # Concurrent registrations wait; what refers to the account's row does not.
    if db.session.get(Account, account_id, with_for_update={"key_share": True}) is None:
        raise InvalidField("account", "This account does not exist.", "not_found")
    current = db.session.execute(_NUMBER, {"account_id": account_id}).scalar_one()
    if current >= APPLICATIONS_PER_ACCOUNT:
        raise Forbidden(
            "plan_limit",
            f"The account has {current} applications, and can have {APPLICATIONS_PER_ACCOUNT}. "
            "Delete one that you no longer need.",
        )
