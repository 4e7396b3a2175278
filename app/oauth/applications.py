"""Registered applications: their names, redirect URIs, scopes and secrets."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final

from app.auth.tenant import columns_of, find_locked, rows_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.http.errors import Conflict, Detail, ValidationFailed
from app.models import Account, OAuthApplication
from app.oauth.consents import revoke_consents_to
from app.oauth.redirect_uris import redirect_uri_problem
from app.policy.bounds import NAME_LENGTH
from app.policy.oauth import REDIRECT_URIS
from app.policy.permissions import SCOPES
from app.security import tokens
from app.values import clock
from app.values.ids import new_id
from app.values.text import unstorable

_OF_ACCOUNT = CompiledQuery(
    columns_of(
        OAuthApplication,
        OAuthApplication.id,
        OAuthApplication.account_id,
        OAuthApplication.name,
        OAuthApplication.redirect_uris,
        OAuthApplication.scopes,
        OAuthApplication.secret_hash,
        OAuthApplication.created_at,
    ).order_by(OAuthApplication.id.desc())
)
# Bidirectional controls, with which one name could be made to look like another.
_BIDI_CONTROLS: Final = frozenset(
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_ECHOED_CHARACTERS: Final = 100  # of an invalid value, in the error


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
        public: whether it cannot keep a secret, because it runs on people's devices or in their
            browsers. It gets no secret and must use PKCE.

    Raises:
        ValidationFailed: names each invalid argument.
    """
    if details := list(_problems(account_id, name, redirect_uris, scopes)):
        raise ValidationFailed(details=details)
    secret = None if public else tokens.new_token(tokens.CLIENT_SECRET)
    moment = clock.now()
    application = OAuthApplication(
        id=new_id("application"),
        account_id=account_id,
        name=name.strip(),
        redirect_uris=list(dict.fromkeys(redirect_uris)),
        scopes=[scope for scope in SCOPES if scope in scopes],
        secret_hash=None if secret is None else tokens.hash_token(secret),
        created_at=moment,
        updated_at=moment,
    )
    db.session.add(application)
    return application, secret


def list_applications(account_id: str) -> list[dict[str, Any]]:
    """The records of an account's applications, newest first."""
    return [application_record(row) for row in _OF_ACCOUNT.all(account_id=account_id)]


def rotate_secret(account_id: str, client_id: str) -> str | None:
    """Give an application a new secret; the old one stops working at once.

    Returns None if the account has no such application. Raises Conflict for a public one.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    if application.secret_hash is None:
        raise Conflict("A public application has no secret.")
    secret = tokens.new_token(tokens.CLIENT_SECRET)
    application.secret_hash = tokens.hash_token(secret)
    application.updated_at = clock.now()
    return secret


def update_application(
    account_id: str,
    client_id: str,
    *,
    name: str | None = None,
    redirect_uris: Sequence[str] | None = None,
    scopes: Sequence[str] | None = None,
) -> tuple[dict[str, Any], int] | None:
    """Change what is given; lists replace the present ones.

    Where a scope is taken away, consents that include it are revoked with their tokens: people are
    asked again.

    Returns:
        the record and the number of consents revoked, or None if the account has no such
        application.

    Raises:
        ValidationFailed: names each invalid argument.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    name = application.name if name is None else name
    redirect_uris = application.redirect_uris if redirect_uris is None else redirect_uris
    before, scopes = application.scopes, application.scopes if scopes is None else scopes
    if details := list(_problems(account_id, name, redirect_uris, scopes)):
        raise ValidationFailed(details=details)
    application.name = name.strip()
    application.redirect_uris = list(dict.fromkeys(redirect_uris))
    application.scopes = [scope for scope in SCOPES if scope in scopes]
    application.updated_at = clock.now()
    revoked = revoke_consents_to(client_id, set(before) - set(scopes))
    return application_record(application), revoked


def delete_application(account_id: str, client_id: str) -> bool:
    """Delete an application with all consents and tokens. False if the account has no such one."""
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return False
    db.session.delete(application)
    return True


def lock_application(account_id: str, client_id: str) -> bool:
    """Lock an application against deletion until the end of this transaction. False if it has
    been deleted."""
    own = rows_of(account_id, OAuthApplication).where(OAuthApplication.id == client_id)
    locked = own.with_for_update(read=True, key_share=True)
    return db.session.scalars(locked).one_or_none() is not None


def application_record(application: Any) -> dict[str, Any]:
    """The fields of an application as its owner sees them, without the secret.

    Args:
        application: an ``OAuthApplication``, or a row of its columns.
    """
    return {
        "client_id": application.id,
        "account_id": application.account_id,
        "name": application.name,
        "redirect_uris": application.redirect_uris,
        "scopes": application.scopes,
        "public": application.secret_hash is None,
        "created_at": clock.format_optional_time(application.created_at),
    }


def _problems(
    account_id: str, name: str, redirect_uris: Sequence[str], scopes: Sequence[str]
) -> Iterator[Detail]:
    if db.session.get(Account, account_id) is None:
        yield Detail("account", "This account does not exist.")
    if problem := _name_problem(name):
        yield Detail("name", problem)
    if not 1 <= len(redirect_uris) <= REDIRECT_URIS:
        yield Detail("redirect_uris", f"Must be 1 to {REDIRECT_URIS} URIs.")
    for uri in redirect_uris:
        if problem := redirect_uri_problem(uri):
            yield Detail("redirect_uris", f"{uri[:_ECHOED_CHARACTERS]!r}: {problem}")
    if not scopes or any(scope not in SCOPES for scope in scopes):
        yield Detail("scopes", f"Must be one or more of {', '.join(SCOPES)}.")


def _name_problem(name: str) -> str | None:
    if not 1 <= len(name.strip()) <= NAME_LENGTH:
        return f"Must have 1 to {NAME_LENGTH} characters."
    if problem := unstorable(name):
        return problem
    if any(unicodedata.category(c) == "Cc" or c in _BIDI_CONTROLS for c in name.strip()):
        return "Must be one line, without characters that control how text is shown."
    return None
