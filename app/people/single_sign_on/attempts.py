"""Sign-in attempts: the state of a browser until it has a session.

The browser's cookie holds a token, and the database its hash. State, nonce and code verifier are
derived from the token, so that none of them is stored, and only this browser can return with them.
"""

from __future__ import annotations

import base64
import hmac
from typing import Any, Final

from sqlalchemy import bindparam, delete, select, update

from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import SignInAttempt
from app.people.single_sign_on.interface import RequestSecrets
from app.policy.single_sign_on import ATTEMPT_LIFE, CONSENT_LIFE
from app.security import tokens
from app.security.signatures import is_same
from app.values import clock

_WAITING: Final = CompiledQuery(
    select(
        SignInAttempt.user_id,
        SignInAttempt.target,
        SignInAttempt.issuer,
        SignInAttempt.subject,
        SignInAttempt.email,
        SignInAttempt.name,
        SignInAttempt.link_hash,
    ).where(
        SignInAttempt.token_hash == bindparam("token_hash"),
        SignInAttempt.subject.is_not(None),
        SignInAttempt.expires_at > bindparam("now"),
    )
)


def secrets_of(token: str) -> RequestSecrets:
    """Derive the secrets of a browser's request to the provider from its token."""
    return RequestSecrets(*(_derive_secret(token, purpose) for purpose in RequestSecrets._fields))


def is_return(token: str, state: str) -> bool:
    """True if ``state`` belongs to the browser with this token."""
    own = _derive_secret(token, "state") if tokens.is_well_formed(token, tokens.SIGN_IN) else ""
    return bool(own) and is_same(state, own)


def begin_attempt(token: str, target: str, user_id: str | None) -> None:
    """Store that a browser goes to the provider.

    Args:
        target: the path of the page to show afterwards.
        user_id: the signed-in person to link the identity to; None to sign in whoever it is.
    """
    now = clock.now()
    row = SignInAttempt(
        token_hash=tokens.hash_token(token),
        target=target,
        user_id=user_id,
        created_at=now,
        expires_at=now + ATTEMPT_LIFE,
    )
    db.session.add(row)


def claim_return(token: str) -> Any:
    """Mark an attempt as returned, in the current transaction. This works once.

    Returns a row with ``user_id`` and ``target``, or None if it has returned before or has expired.
    """
    now = clock.now()
    once = update(SignInAttempt).where(
        SignInAttempt.token_hash == tokens.hash_token(token),
        SignInAttempt.returned_at.is_(None),
        SignInAttempt.expires_at > now,
    )
    columns = (SignInAttempt.user_id, SignInAttempt.target)
    return db.session.execute(once.values(returned_at=now).returning(*columns)).one_or_none()


def await_consent(token: str, **values: Any) -> None:
    """Store the identity of a browser until its person consents: ``user_id``, ``issuer``,
    ``subject``, ``email`` and ``name``."""
    _change_attempt(token, **values)


def add_link(token: str) -> str:
    """Make a token to mail to the person of an attempt; an earlier one becomes invalid."""
    link = tokens.new_token(tokens.LINK)
    _change_attempt(token, link_hash=tokens.hash_token(link))
    return link


def find_waiting(token: str) -> Any:
    """An attempt that waits for consent, or None: a row with the values of ``await_consent``,
    ``target`` and ``link_hash``."""
    if not tokens.is_well_formed(token, tokens.SIGN_IN):
        return None
    return _WAITING.first(token_hash=tokens.hash_token(token), now=clock.now())


def end_attempt(token: str) -> bool:
    """Delete an attempt. Returns False if it has just ended, so that what needs it happens once."""
    own = delete(SignInAttempt).where(SignInAttempt.token_hash == tokens.hash_token(token))
    result: Any = db.session.execute(own)
    return bool(result.rowcount)


def _change_attempt(token: str, **values: Any) -> None:
    own = update(SignInAttempt).where(SignInAttempt.token_hash == tokens.hash_token(token))
    db.session.execute(own.values(expires_at=clock.now() + CONSENT_LIFE, **values))


def _derive_secret(token: str, purpose: str) -> str:
    """Derive 256 bits from a token for a purpose, as 43 characters that do not reveal the token."""
    digest = hmac.digest(token.encode(), purpose.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
