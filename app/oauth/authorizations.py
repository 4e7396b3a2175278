"""Authorizations: a code, and the family of all tokens issued from it.

Setting ``revoked_at`` of the authorization revokes the family. Every token is checked against it,
so a token that is written concurrently is revoked as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from app.audit.entries import write_entry
from app.audit.origin import Actor
from app.audit.targets import Target
from app.auth.tenant import find_locked, rows_of
from app.db.batched_deletion import BATCH_ROWS
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import OAuthAuthorization, User
from app.oauth.clients import Client
from app.policy.oauth import (
    ACCESS_TOKEN_LIFE,
    AUTHORIZATION_LIFE,
    AUTHORIZATIONS_PER_CONSENT,
    CODE_LIFE,
    OFFLINE_ACCESS,
)
from app.security import tokens
from app.values import clock
from app.values.ids import new_id

_BY_CODE = CompiledQuery(
    select(
        OAuthAuthorization.id,
        OAuthAuthorization.account_id,
        OAuthAuthorization.user_id,
        OAuthAuthorization.application_id,
        OAuthAuthorization.scopes,
        OAuthAuthorization.redirect_uri,
        OAuthAuthorization.code_challenge,
        OAuthAuthorization.code_expires_at,
        OAuthAuthorization.code_used_at,
        OAuthAuthorization.created_at,
    ).where(OAuthAuthorization.code_hash == bindparam("code_hash"))
)


def create_authorization(
    *,
    account_id: str,
    user_id: str,
    application_id: str,
    scopes: Sequence[str],
    redirect_uri: str,
    code_challenge: str | None,
) -> str:
    """Create an authorization. Returns its code, of which only the hash is stored.

    Codes that the same person gave any application in the account, and that expired unused, are
    deleted.
    """
    code, now = tokens.new_token(tokens.AUTHORIZATION_CODE), clock.now()
    _delete_unused(account_id, user_id, now)
    row = OAuthAuthorization(
        id=new_id("authorization"),
        account_id=account_id,
        user_id=user_id,
        application_id=application_id,
        scopes=list(scopes),
        code_hash=tokens.hash_token(code),
        redirect_uri=redirect_uri,
        code_challenge=code_challenge,
        code_expires_at=now + CODE_LIFE,
        ends_at=now + CODE_LIFE,  # until the code is used
        created_at=now,
    )
    db.session.add(row)
    return code


def find_code(code: str) -> Any:
    """The authorization of a code, even if used or expired, or None if there is none."""
    if not tokens.is_well_formed(code, tokens.AUTHORIZATION_CODE):
        return None
    return _BY_CODE.first(code_hash=tokens.hash_token(code))


def claim_code(row: Any) -> OAuthAuthorization | None:
    """Use a code. Returns None if it was used before, has expired or was revoked.

    Only one of several concurrent requests succeeds; the others wait for its transaction.
    """
    now = clock.now()
    updated: Any = db.session.execute(
        update(OAuthAuthorization)
        .where(
            OAuthAuthorization.account_id == row.account_id,
            OAuthAuthorization.id == row.id,
            OAuthAuthorization.code_used_at.is_(None),
            OAuthAuthorization.revoked_at.is_(None),
            OAuthAuthorization.code_expires_at > now,
        )
        .values(code_used_at=now, last_used_at=now, ends_at=_family_end(row, now)),
        execution_options={"synchronize_session": False},
    )
    if updated.rowcount == 0:
        return None
    _delete_surplus(row, now)
    return find_locked(row.account_id, OAuthAuthorization, row.id)


def lock_family(account_id: str, authorization_id: str) -> OAuthAuthorization | None:
    """Lock and return the authorization of a family; None if it was revoked or has expired."""
    family = find_locked(account_id, OAuthAuthorization, authorization_id)
    if family is None or family.revoked_at is not None or family.ends_at <= clock.now():
        return None
    return family


def revoke_family(account_id: str, authorization_id: str) -> bool:
    """Revoke all tokens issued from a code, now or later. Returns False if they were already."""
    revoked: Any = db.session.execute(
        update(OAuthAuthorization)
        .where(
            OAuthAuthorization.account_id == account_id,
            OAuthAuthorization.id == authorization_id,
            OAuthAuthorization.revoked_at.is_(None),
        )
        .values(revoked_at=clock.now()),
        execution_options={"synchronize_session": False},
    )
    return bool(revoked.rowcount)


def write_token_entry(action: str, row: Any, client: Client) -> None:
    """Write the entry of an application's use of a token or code.

    Args:
        row: the row of the token or code, with ``account_id`` and ``user_id``.
    """
    email = db.session.get_one(User, row.user_id).email
    write_entry(
        action,
        Target("member", row.user_id, email),
        account_id=row.account_id,
        actor=Actor("application", client.id, client.name),
    )


def _delete_unused(account_id: str, user_id: str, now: datetime) -> None:
    db.session.execute(
        delete(OAuthAuthorization).where(
            OAuthAuthorization.account_id == account_id,
            OAuthAuthorization.user_id == user_id,
            OAuthAuthorization.code_used_at.is_(None),
            OAuthAuthorization.code_expires_at <= now,
        ),
        execution_options={"synchronize_session": False},
    )


def _delete_surplus(row: Any, now: datetime) -> None:
    """Delete other authorizations beyond the maximum of the consent: ended ones first, then those
    that were used longest ago."""
    has_ended = OAuthAuthorization.revoked_at.is_not(None) | (OAuthAuthorization.ends_at <= now)
    surplus = (
        rows_of(row.account_id, OAuthAuthorization)
        .where(
            OAuthAuthorization.user_id == row.user_id,
            OAuthAuthorization.application_id == row.application_id,
            OAuthAuthorization.code_used_at.is_not(None),
            OAuthAuthorization.id != row.id,
        )
        .order_by(has_ended, OAuthAuthorization.last_used_at.desc())
        .offset(AUTHORIZATIONS_PER_CONSENT - 1)
        .limit(BATCH_ROWS)
        .with_for_update(skip_locked=True)
    )
    for family in db.session.scalars(surplus):
        db.session.delete(family)


def _family_end(row: Any, now: datetime) -> datetime:
    """The time when the family of a code expires: with offline access, counted from the consent."""
    if OFFLINE_ACCESS in row.scopes:
        return row.created_at + AUTHORIZATION_LIFE  # type: ignore[no-any-return]
    return now + ACCESS_TOKEN_LIFE
