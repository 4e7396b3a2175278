"""OAuth access tokens as bearer tokens: authentication and permissions.

One statement finds the token with its authorization and the person's role in the account, so that
each restriction takes effect with the next request. Foreign keys guarantee that an authorization
has a consent, and a consent an application and a membership, so only columns that can change are
read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import Text, bindparam, select
from sqlalchemy import cast as sql_cast

from app.auth.grace_period import due_at, is_overdue
from app.auth.principal import Principal
from app.db.queries import CompiledQuery
from app.http.errors import Unauthorized
from app.models import Account, Membership, OAuthAuthorization, OAuthToken, User
from app.policy.permissions import PROFILE, ROLES, expand_permissions
from app.security import tokens
from app.security.callers import note_account
from app.values import clock

_NO_SECOND_FACTOR: Final = (
    "This account requires a second factor, and the person that this application acts for has "
    "none. The token works again once they turn one on in their profile, at "
    "/profile/second-factor."
)
# RFC 9470, section 3. Unlike invalid_token, it does not lead an application to refresh the token.
_INSUFFICIENT: Final = "insufficient_user_authentication"

_BY_HASH = CompiledQuery(
    select(
        sql_cast(OAuthToken.scopes, Text).label("scopes"),
        OAuthToken.expires_at,
        OAuthToken.revoked_at,
        OAuthToken.used_at,
        OAuthAuthorization.id.label("authorization_id"),
        OAuthAuthorization.account_id,
        OAuthAuthorization.user_id,
        OAuthAuthorization.application_id,
        OAuthAuthorization.revoked_at.label("family_revoked_at"),
        OAuthAuthorization.ends_at,
        OAuthAuthorization.last_used_at,
        Membership.role,
        Membership.joined_at,
        Account.name.label("account_name"),
        Account.plan,
        Account.second_factor_required_at,
        Account.second_factor_grace_days,
        User.email,
        User.second_factor_since,
    )
    .join(OAuthAuthorization, OAuthAuthorization.id == OAuthToken.authorization_id)
    .join(
        Membership,
        (Membership.account_id == OAuthAuthorization.account_id)
        & (Membership.user_id == OAuthAuthorization.user_id),
    )
    .join(Account, Account.id == OAuthAuthorization.account_id)
    .join(User, User.id == OAuthAuthorization.user_id)
    .where(OAuthToken.token_hash == bindparam("token_hash"), OAuthToken.kind == "access")
)


def authenticate_access_token(token: str) -> Principal:
    """The principal of an access token.

    Raises:
        Unauthorized: it is malformed, unknown, expired or revoked, or the person is no longer a
            member, all with the same message. Or the account requires a second factor, and the
            person has none after the grace period.
    """
    row, token_hash = None, tokens.hash_token(token)
    if tokens.is_well_formed(token, tokens.ACCESS_TOKEN):
        row = _BY_HASH.first(token_hash=token_hash)
    if row is None or not _is_valid(row):
        raise Unauthorized("The token is invalid, expired or revoked.", challenge="invalid_token")
    if is_overdue(due_at(row)):
        raise Unauthorized(_NO_SECOND_FACTOR, challenge=_INSUFFICIENT)
    scopes, permissions = _token_permissions(row.scopes, row.role)
    note_account(token_hash, row.account_id)
    return Principal(
        kind="oauth",
        credential_id=row.authorization_id,
        account_id=row.account_id,
        account_name=row.account_name,
        plan=row.plan,
        permissions=permissions,
        user_id=row.user_id,
        user_email=row.email,
        expires_at=min(row.expires_at, row.ends_at),
        last_used_at=row.last_used_at,
        scopes=scopes,
        application_id=row.application_id,
        role=row.role,
        unused_token="" if row.used_at else token_hash,
    )


def _is_valid(row: Any) -> bool:
    ended = row.revoked_at or row.family_revoked_at
    return (
        ended is None
        and row.joined_at is not None
        and clock.now() < min(row.expires_at, row.ends_at)
    )


@lru_cache(maxsize=1024)
def _token_permissions(text: str, role: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return (scopes of a token, permissions that they include for this role)."""
    scopes = frozenset(orjson.loads(text))
    return scopes, (expand_permissions(scopes) & ROLES[role]) | (scopes & {PROFILE})
