"""Authorizations: a code, and the family of all tokens that come from it.

A family ends with ``revoked_at`` of its authorization. Every token is judged by that, so it does
not matter whether a token was written before or after its family ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update

from app.auth.tenant import find_locked
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import OAuthAuthorization
from app.policy.oauth import ACCESS_TOKEN_LIFE, AUTHORIZATION_LIFE, CODE_LIFE, OFFLINE_ACCESS
from app.security import tokens
from app.values import clock
from app.values.ids import new_id

_BY_CODE = CompiledQuery(
    select(
        OAuthAuthorization.id,
        OAuthAuthorization.account_id,
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
    """A new authorization. Returns its code, which is not kept."""
    code, moment = tokens.new_token(tokens.AUTHORIZATION_CODE), clock.now()
    row = OAuthAuthorization(
        id=new_id("authorization"),
        account_id=account_id,
        user_id=user_id,
        application_id=application_id,
        scopes=list(scopes),
        code_hash=tokens.hash_token(code),
        redirect_uri=redirect_uri,
        code_challenge=code_challenge,
        code_expires_at=moment + CODE_LIFE,
        ends_at=moment + CODE_LIFE,  # until the code is used
        created_at=moment,
    )
    db.session.add(row)
    return code


def find_code(code: str) -> Any:
    """The authorization of a code, used or expired or not, or None."""
    if not tokens.is_well_formed(code, tokens.AUTHORIZATION_CODE):
        return None
    return _BY_CODE.first(code_hash=tokens.hash_token(code))


def claim_code(found: Any) -> OAuthAuthorization | None:
    """Use a code. None when it was used before, has expired, or was revoked.

    Of several that come at once, one gets it; the others wait for its transaction.
    """
    moment = clock.now()
    claimed: Any = db.session.execute(
        update(OAuthAuthorization)
        .where(
            OAuthAuthorization.account_id == found.account_id,
            OAuthAuthorization.id == found.id,
            OAuthAuthorization.code_used_at.is_(None),
            OAuthAuthorization.revoked_at.is_(None),
            OAuthAuthorization.code_expires_at > moment,
        )
        .values(code_used_at=moment, last_used_at=moment, ends_at=_end(found, moment)),
        execution_options={"synchronize_session": False},
    )
    if claimed.rowcount == 0:
        return None
    return find_locked(found.account_id, OAuthAuthorization, found.id)


def lock_family(account_id: str, authorization_id: str) -> OAuthAuthorization | None:
    """The authorization of a family that has not ended, locked; None when it has."""
    found = find_locked(account_id, OAuthAuthorization, authorization_id)
    if found is None or found.revoked_at is not None or found.ends_at <= clock.now():
        return None
    return found


def end_family(account_id: str, authorization_id: str) -> None:
    """No token that came from this code is good any more, and none that comes."""
    db.session.execute(
        update(OAuthAuthorization)
        .where(
            OAuthAuthorization.account_id == account_id,
            OAuthAuthorization.id == authorization_id,
            OAuthAuthorization.revoked_at.is_(None),
        )
        .values(revoked_at=clock.now()),
        execution_options={"synchronize_session": False},
    )


def _end(found: Any, moment: datetime) -> datetime:
    """When all that comes from a code ends: counted from the person's consent."""
    if OFFLINE_ACCESS in found.scopes:
        return found.created_at + AUTHORIZATION_LIFE  # type: ignore[no-any-return]
    return moment + ACCESS_TOKEN_LIFE
