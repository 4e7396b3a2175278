"""Challenges that passkeys sign, valid once and briefly for one purpose in one browser.

A challenge is random and signed by the service, so that opening a page stores nothing. Those that
were used are stored until they have expired.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple

from flask import current_app
from itsdangerous import BadSignature

from app.db.engines import insert_into
from app.db.extensions import db
from app.models import UsedChallenge
from app.policy.second_factor import SECOND_STEP_LIFE
from app.security.timed_signer import TimedSigner
from app.security.tokens import hash_token
from app.values import clock

_RANDOM_BYTES: Final = 24


class Purpose(NamedTuple):
    """The purpose of a challenge.

    Attributes:
        kind: ``sign in``, ``confirm`` or ``register``.
        user_id: the person whose passkey signs it.
        browser: the session or the pending sign-in in which it was made.
    """

    kind: str
    user_id: str
    browser: str


def new_challenge(purpose: Purpose) -> bytes:
    """Make a challenge for this purpose."""
    return _challenge_signer(purpose).sign(secrets.token_urlsafe(_RANDOM_BYTES))


def use_challenge(purpose: Purpose, challenge: bytes) -> bool:
    """Use a challenge in the open transaction. Returns False if it is for another purpose, has
    expired or was used before."""
    try:
        _challenge_signer(purpose).unsign(challenge, max_age=int(SECOND_STEP_LIFE.total_seconds()))
        text = challenge.decode("ascii")
    except (BadSignature, UnicodeDecodeError):
        return False
    row = insert_into(UsedChallenge).values(challenge_hash=hash_token(text), used_at=clock.now())
    unused = row.on_conflict_do_nothing(index_elements=[UsedChallenge.challenge_hash])
    added = unused.returning(UsedChallenge.challenge_hash)
    return db.session.scalars(added).one_or_none() is not None


def _challenge_signer(purpose: Purpose) -> TimedSigner:
    key = current_app.secret_key or ""
    return TimedSigner(key, salt="\0".join(("passkey", *purpose)))
