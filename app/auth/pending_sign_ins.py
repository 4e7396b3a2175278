"""Pending sign-ins, which have the right password and still need the second factor.

The browser's cookie holds an opaque token and the database its hash. Claiming the row, which works
once, signs the person in. It expires, and ends with all sessions of the person.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, select

from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import PendingSignIn, User
from app.policy.second_factor import SECOND_STEP_LIFE
from app.security import tokens
from app.values import clock

_BY_HASH = CompiledQuery(
    select(PendingSignIn.token_hash, PendingSignIn.user_id, PendingSignIn.target, User.email)
    .join(User, User.id == PendingSignIn.user_id)
    .where(
        PendingSignIn.token_hash == bindparam("token_hash"),
        PendingSignIn.expires_at > bindparam("moment"),
        User.second_factor_since.is_not(None),  # begun while it was being turned off
    )
)


def start_pending(user_id: str, account_id: str | None, target: str) -> str:
    """Start a pending sign-in in the open transaction. Returns the token for the cookie.

    Args:
        target: the path of the page to show afterwards.
    """
    token, moment = tokens.new_token(tokens.PENDING_SIGN_IN), clock.now()
    row = PendingSignIn(
        token_hash=tokens.hash_token(token),
        user_id=user_id,
        current_account_id=account_id,
        target=target,
        created_at=moment,
        expires_at=moment + SECOND_STEP_LIFE,
    )
    db.session.add(row)
    return token


def find_pending(token: str) -> Any:
    """The ``token_hash``, ``user_id``, ``target`` and ``email`` of a pending sign-in; None if there
    is none, it has expired, or the person has no second factor."""
    if not tokens.is_well_formed(token, tokens.PENDING_SIGN_IN):
        return None
    return _BY_HASH.first(token_hash=tokens.hash_token(token), moment=clock.now())


def claim_pending(token_hash: str) -> Any:
    """Use a pending sign-in in the open transaction. Returns its ``user_id``,
    ``current_account_id`` and ``target``; None if it was just used or has expired."""
    statement = (
        delete(PendingSignIn)
        .where(PendingSignIn.token_hash == token_hash, PendingSignIn.expires_at > clock.now())
        .returning(PendingSignIn.user_id, PendingSignIn.current_account_id, PendingSignIn.target)
    )
    return db.session.execute(statement).one_or_none()


def delete_pending(user_id: str) -> None:
    """Delete all pending sign-ins of a person."""
    db.session.execute(delete(PendingSignIn).where(PendingSignIn.user_id == user_id))
