"""Access and refresh tokens: issuing, looking up, rotating and revoking them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError
from sqlalchemy import bindparam, select, update

from app.db.column_types import Timestamp
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.limits.counting import count_refresh
from app.models import OAuthAuthorization, OAuthToken
from app.oauth.authorizations import lock_family, revoke_family, write_token_entry
from app.oauth.clients import Client
from app.policy.oauth import ACCESS_TOKEN_LIFE, OFFLINE_ACCESS, REFRESH_GRACE, REFRESH_TOKEN_IDLE
from app.policy.oauth_errors import Description
from app.security import tokens
from app.security.sealing import seal, unseal
from app.values import clock

_BY_HASH = CompiledQuery(
    select(
        OAuthToken.token_hash,
        OAuthToken.kind,
        OAuthToken.scopes,
        OAuthToken.created_at,
        OAuthToken.expires_at,
        OAuthToken.revoked_at,
        OAuthToken.used_at,
        OAuthAuthorization.id.label("authorization_id"),
        OAuthAuthorization.account_id,
        OAuthAuthorization.user_id,
        OAuthAuthorization.application_id,
        OAuthAuthorization.revoked_at.label("family_revoked_at"),
        OAuthAuthorization.ends_at.label("family_ends_at"),
    )
    .join(OAuthAuthorization, OAuthAuthorization.id == OAuthToken.authorization_id)
    .where(OAuthToken.token_hash == bindparam("token_hash"))
)
_EXPIRED_SUCCESSORS = CompiledQuery(
    select(OAuthToken.token_hash)
    .where(
        OAuthToken.sealed_successor.is_not(None),
        OAuthToken.used_at <= bindparam("now", type_=Timestamp()),
    )
    .limit(bindparam("number"))
)
_PREFIXES = (tokens.ACCESS_TOKEN, tokens.REFRESH_TOKEN)


def find_token(token: str) -> Any:
    """Find a token's row with its family, even if expired or revoked, or None if there is none."""
    if not any(tokens.is_well_formed(token, prefix) for prefix in _PREFIXES):
        return None
    return _BY_HASH.first(token_hash=tokens.hash_token(token))


def issue_tokens(
    family: OAuthAuthorization, scopes: Sequence[str], now: datetime
) -> dict[str, Any]:
    """Issue tokens. Returns the body of the token response (RFC 6749, section 5.1).

    Args:
        family: locked by this transaction.
        scopes: the scopes of the access token; a refresh token has the scopes of the family.
        now: the start of their lifetimes.
    """
    access, ends_at = _new_token(family, "access", scopes, now, ACCESS_TOKEN_LIFE)
    response = {
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": int((ends_at - now).total_seconds()),
        "scope": " ".join(scopes),
    }
    if OFFLINE_ACCESS in family.scopes:
        refresh, _ = _new_token(family, "refresh", family.scopes, now, REFRESH_TOKEN_IDLE)
        response["refresh_token"] = refresh
    return response


def rotate_refresh_token(row: Any, client: Client, scopes: Sequence[str]) -> dict[str, Any]:
    """Exchange a refresh token for new tokens. Returns the body of the token response.

    Within REFRESH_GRACE a repeat gets the same response, and so do concurrent requests, which wait
    for the first. A later one gets new tokens in place of those that nobody has used: the response
    was lost. If they were used, the token or its successor was stolen: the family is revoked. The
    caller commits, even after InvalidGrantError.

    Raises:
        InvalidGrantError: the token is expired, revoked or was used before.
        RateLimited: there were too many refreshes.
    """
    if row.used_at is None:
        count_refresh(row.user_id, client.account_id)
    family = lock_family(row.account_id, row.authorization_id)
    if family is None:
        raise invalid_refresh_token()
    now = clock.now()
    if not _claim_refresh_token(row.token_hash, now):
        stored = db.session.get_one(OAuthToken, row.token_hash)
        if (
            stored.used_at is not None
            and now - stored.used_at < REFRESH_GRACE
            and stored.sealed_successor
        ):
            return _unseal_response(stored.sealed_successor)
        if not _replace_successors(stored, now):
            _revoke_stolen(stored, row, client)
            raise invalid_refresh_token()
        # Counted only now: a thief must not delay this check with refreshes.
        count_refresh(row.user_id, client.account_id)
    response = issue_tokens(family, scopes, now)
    family.last_used_at = now
    _wipe_family_successors(row.authorization_id, now)
    _store_successor(row.token_hash, response)
    return response


def revoke_token(row: Any) -> bool:
    """Revoke an access token, or the whole family of a refresh token. Returns False if it was
    revoked before or has expired."""
    now = clock.now()
    if row.family_revoked_at is not None or row.family_ends_at <= now:
        return False
    if row.kind == "refresh":
        return revoke_family(row.account_id, row.authorization_id)
    revoked: Any = db.session.execute(
        update(OAuthToken)
        .where(
            OAuthToken.token_hash == row.token_hash,
            OAuthToken.revoked_at.is_(None),
            OAuthToken.expires_at > now,
        )
        .values(revoked_at=now)
    )
    return bool(revoked.rowcount)


def wipe_expired_successors(number: int) -> int:
    """Wipe up to ``number`` stored responses whose grace period is over. Returns their number.

    A refresh wipes its own family; this covers families that are not refreshed again.
    Locked rows are skipped until the next run.
    """
    named = OAuthToken.token_hash.in_(_expired_successors(number))
    unlocked = select(OAuthToken.token_hash).where(named).with_for_update(skip_locked=True)
    wiped: Any = db.session.execute(
        update(OAuthToken)
        .where(OAuthToken.token_hash.in_(unlocked))
        .values(sealed_successor=None)
        .execution_options(synchronize_session=False)
    )
    return int(wiped.rowcount)


def has_expired_successors() -> bool:
    """True if the grace period of a stored response is over."""
    return bool(_expired_successors(1))


def _expired_successors(number: int) -> list[str]:
    """The hashes of up to ``number`` tokens."""
    rows = _EXPIRED_SUCCESSORS.tuples(now=clock.now() - REFRESH_GRACE, number=number)
    return [token_hash for (token_hash,) in rows]


def invalid_refresh_token() -> InvalidGrantError:
    return InvalidGrantError(Description.REFRESH)


def _new_token(
    family: OAuthAuthorization,
    kind: str,
    scopes: Sequence[str],
    now: datetime,
    life: timedelta,
) -> tuple[str, datetime]:
    """Make a token. Returns it and its expiry, which is never after its family's."""
    token = tokens.new_token(tokens.ACCESS_TOKEN if kind == "access" else tokens.REFRESH_TOKEN)
    ends_at = min(now + life, family.ends_at)
    row = OAuthToken(
        token_hash=tokens.hash_token(token),
        authorization_id=family.id,
        kind=kind,
        scopes=list(scopes),
        created_at=now,
        expires_at=ends_at,
    )
    db.session.add(row)
    return token, ends_at


def _claim_refresh_token(token_hash: str, now: datetime) -> bool:
    """Mark a refresh token as used. Returns False if it was used, revoked or has expired."""
    updated: Any = db.session.execute(
        update(OAuthToken)
        .where(
            OAuthToken.token_hash == token_hash,
            OAuthToken.kind == "refresh",
            OAuthToken.used_at.is_(None),
            OAuthToken.revoked_at.is_(None),
            OAuthToken.expires_at > now,
        )
        .values(used_at=now)
    )
    return bool(updated.rowcount)


def _unseal_response(response: str) -> dict[str, Any]:
    """A stored response. Raises InvalidGrantError if SECRET_KEY has changed since."""
    try:
        return unseal(response)  # type: ignore[no-any-return]
    except ValueError:
        raise invalid_refresh_token() from None


def _replace_successors(row: OAuthToken, now: datetime) -> bool:
    """Use a refresh token once more, and revoke the tokens that it gave. Returns False if one of
    them was used or revoked, or if nobody can tell: access tokens are deleted a day after their
    end."""
    if row.used_at is None or row.revoked_at is not None:
        return False
    successors = db.session.scalars(
        select(OAuthToken).where(
            OAuthToken.authorization_id == row.authorization_id,
            OAuthToken.created_at == row.used_at,
        )
    ).all()
    if {token.kind for token in successors} != {"access", "refresh"}:
        return False
    if any(token.used_at or token.revoked_at for token in successors):
        return False
    for token in successors:
        token.revoked_at = now
    row.used_at = now
    return True


def _revoke_stolen(stored: OAuthToken, row: Any, client: Client) -> None:
    """Revoke the family of a refresh token that was used before or replaced; of one that has just
    expired, nothing."""
    stored.sealed_successor = None
    if stored.used_at is None and stored.revoked_at is None:
        return
    if revoke_family(row.account_id, row.authorization_id):
        write_token_entry("application.token_reused", row, client)


def _store_successor(token_hash: str, response: dict[str, Any]) -> None:
    db.session.execute(
        update(OAuthToken)
        .where(OAuthToken.token_hash == token_hash)
        .values(sealed_successor=seal(response))
    )


def _wipe_family_successors(authorization_id: str, now: datetime) -> None:
    """Wipe a family's stored responses whose grace period is over."""
    db.session.execute(
        update(OAuthToken)
        .where(
            OAuthToken.authorization_id == authorization_id,
            OAuthToken.used_at <= now - REFRESH_GRACE,
            OAuthToken.sealed_successor.is_not(None),
        )
        .values(sealed_successor=None)
    )
