"""Access tokens and refresh tokens: given out, exchanged for new ones, looked up, revoked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError
from sqlalchemy import bindparam, select, update

from app.db.column_types import Timestamp
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import OAuthAuthorization, OAuthToken
from app.oauth.authorizations import end_family, lock_family
from app.policy.oauth import (
    ACCESS_TOKEN_LIFE,
    OFFLINE_ACCESS,
    REFRESH_GRACE,
    REFRESH_TOKEN_IDLE,
)
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
_KEPT_TOO_LONG = CompiledQuery(
    select(OAuthToken.token_hash)
    .where(
        OAuthToken.sealed_successor.is_not(None),
        OAuthToken.used_at <= bindparam("moment", type_=Timestamp()),
    )
    .limit(bindparam("number"))
)
_PREFIXES = (tokens.ACCESS_TOKEN, tokens.REFRESH_TOKEN)


def find_token(token: str) -> Any:
    """What is known of a token, good or not, with its family; None for one that there is not."""
    if not any(tokens.is_well_formed(token, prefix) for prefix in _PREFIXES):
        return None
    return _BY_HASH.first(token_hash=tokens.hash_token(token))


def issue(family: OAuthAuthorization, scopes: Sequence[str], moment: datetime) -> dict[str, Any]:
    """New tokens, as the client is answered (RFC 6749, section 5.1).

    Args:
        family: locked by this transaction.
        scopes: of the access token; a refresh token has those of the family.
        moment: from which they are good.
    """
    access, ends_at = _new_token(family, "access", scopes, moment, ACCESS_TOKEN_LIFE)
    answer = {
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": int((ends_at - moment).total_seconds()),
        "scope": " ".join(scopes),
    }
    if OFFLINE_ACCESS in family.scopes:
        refresh, _ = _new_token(family, "refresh", family.scopes, moment, REFRESH_TOKEN_IDLE)
        answer["refresh_token"] = refresh
    return answer


def rotate(found: Any, scopes: Sequence[str]) -> dict[str, Any]:
    """The answer to a refresh token: new tokens, and the same again to a repeat soon after.

    Of several requests at once one claims it; the others wait, and get what that one got. Used
    again after the grace it is a stolen one, or its successor is: the family ends, which the
    caller commits.

    Raises:
        InvalidGrantError: it is not good, or not any more.
    """
    family = lock_family(found.account_id, found.authorization_id)
    if family is None:
        raise not_good()
    moment = clock.now()
    if not _claim(found.token_hash, moment):
        return _successor(found, moment)
    answer = issue(family, scopes, moment)
    family.last_used_at = moment
    _forget_successors(found.authorization_id, moment)
    _keep_successor(found.token_hash, answer)
    return answer


def revoke(found: Any) -> None:
    """End an access token, or with a refresh token all of its family."""
    if found.kind == "refresh":
        end_family(found.account_id, found.authorization_id)
        return
    db.session.execute(
        update(OAuthToken)
        .where(OAuthToken.token_hash == found.token_hash, OAuthToken.revoked_at.is_(None))
        .values(revoked_at=clock.now())
    )


def forget_successors(number: int = 500) -> int:
    """Wipe kept answers that are not given again, so many at most. Returns how many they were.

    Who refreshes goes by them as well, and so does this for those who never come again. What
    another transaction is writing is left to the next time.
    """
    over = _KEPT_TOO_LONG.tuples(moment=clock.now() - REFRESH_GRACE, number=number)
    named = OAuthToken.token_hash.in_([token_hash for (token_hash,) in over])
    free = select(OAuthToken.token_hash).where(named).with_for_update(skip_locked=True)
    wiped: Any = db.session.execute(
        update(OAuthToken)
        .where(OAuthToken.token_hash.in_(free))
        .values(sealed_successor=None)
        .execution_options(synchronize_session=False)
    )
    return int(wiped.rowcount)


def not_good() -> InvalidGrantError:
    return InvalidGrantError("The refresh token is unknown, expired, revoked or was used before.")


def _new_token(
    family: OAuthAuthorization,
    kind: str,
    scopes: Sequence[str],
    moment: datetime,
    life: timedelta,
) -> tuple[str, datetime]:
    """A new token and when it ends, which is never after its family."""
    token = tokens.new_token(tokens.ACCESS_TOKEN if kind == "access" else tokens.REFRESH_TOKEN)
    ends_at = min(moment + life, family.ends_at)
    row = OAuthToken(
        token_hash=tokens.hash_token(token),
        authorization_id=family.id,
        kind=kind,
        scopes=list(scopes),
        created_at=moment,
        expires_at=ends_at,
    )
    db.session.add(row)
    return token, ends_at


def _claim(token_hash: str, moment: datetime) -> bool:
    """Whether this is the one use of a refresh token that is good."""
    claimed: Any = db.session.execute(
        update(OAuthToken)
        .where(
            OAuthToken.token_hash == token_hash,
            OAuthToken.kind == "refresh",
            OAuthToken.used_at.is_(None),
            OAuthToken.revoked_at.is_(None),
            OAuthToken.expires_at > moment,
        )
        .values(used_at=moment)
    )
    return bool(claimed.rowcount)


def _successor(found: Any, moment: datetime) -> dict[str, Any]:
    """What a refresh token gave that could not be claimed."""
    row = db.session.get(OAuthToken, found.token_hash)
    if row is None or row.used_at is None:
        raise not_good()
    if moment - row.used_at < REFRESH_GRACE and row.sealed_successor is not None:
        try:
            return unseal(row.sealed_successor)  # type: ignore[no-any-return]
        except ValueError:  # SECRET_KEY is another one since
            raise not_good() from None
    row.sealed_successor = None
    end_family(found.account_id, found.authorization_id)
    raise not_good()


def _keep_successor(token_hash: str, answer: dict[str, Any]) -> None:
    db.session.execute(
        update(OAuthToken)
        .where(OAuthToken.token_hash == token_hash)
        .values(sealed_successor=seal(answer))
    )


def _forget_successors(authorization_id: str, moment: datetime) -> None:
    """Those of a family that are not given again."""
    db.session.execute(
        update(OAuthToken)
        .where(
            OAuthToken.authorization_id == authorization_id,
            OAuthToken.used_at <= moment - REFRESH_GRACE,
            OAuthToken.sealed_successor.is_not(None),
        )
        .values(sealed_successor=None)
    )
