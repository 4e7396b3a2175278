"""The brake on guessing one person's password.

Every try is counted before the password is looked at, for an address that nobody has as for any
other. Too many in a window, and further tries are refused until it ends. A browser in which the
person was signed in before has a count of its own, so that a stranger's guesses keep nobody out of
what is theirs; and a mailed link sets a new password whatever was counted.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from sqlalchemy import case, delete

from app.db.engines import insert_into
from app.db.extensions import db
from app.models import SignInFailure
from app.policy.people import WRONG_PASSWORDS, WRONG_PASSWORDS_WINDOW
from app.values import clock
from app.values.text import fold


def throttle_key(email: str, browser: str | None = None) -> str:
    """What tries are counted by: the address, or one browser that its person has used.

    Args:
        browser: the id in that browser's cookie, after it was checked.
    """
    text = fold(email) if browser is None else f"{fold(email)}\0{browser}"
    return hashlib.sha256(text.encode()).hexdigest()


def count_attempt(key: str) -> timedelta | None:
    """Count a try, in the transaction at hand. Returns how long to wait when it is one too many."""
    moment = clock.now()
    is_old = SignInFailure.began_at <= moment - WRONG_PASSWORDS_WINDOW
    row = insert_into(SignInFailure).values(key=key, failures=1, began_at=moment)
    counted = row.on_conflict_do_update(
        index_elements=[SignInFailure.key],
        set_={
            "failures": case((is_old, 1), else_=SignInFailure.failures + 1),
            "began_at": case((is_old, moment), else_=SignInFailure.began_at),
        },
    ).returning(SignInFailure.failures, SignInFailure.began_at)
    failures, began_at = db.session.execute(counted).one()
    if failures <= WRONG_PASSWORDS:
        return None
    left: timedelta = began_at + WRONG_PASSWORDS_WINDOW - moment
    return left


def forget_attempts(*keys: str) -> None:
    """The password was right, or was set anew."""
    db.session.execute(delete(SignInFailure).where(SignInFailure.key.in_(keys)))
