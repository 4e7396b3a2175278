"""Limits on guessing passwords and codes of second factors.

Each attempt is counted before the password or the code is compared, also for unregistered
addresses. Over the limit, attempts are rejected until the window ends. A browser in which the
person signed in before is counted separately, so a stranger's guesses cannot lock its owner out.
Resetting the password by mail always works.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import case, delete, or_, select

from app.db.engines import insert_into
from app.db.extensions import db
from app.http.errors import RateLimited
from app.models import SignInFailure
from app.policy.people import (
    REFUSALS_RECORDED,
    REFUSALS_WINDOW,
    WRONG_PASSWORDS,
    WRONG_PASSWORDS_WINDOW,
)
from app.policy.second_factor import WRONG_CODES, WRONG_CODES_WINDOW
from app.values import clock
from app.values.folding import fold_text
from app.values.text import pluralize


class AttemptLimit(NamedTuple):
    """A kind of secret, and its limit of attempts in a window, which begins with the first one."""

    name: str  # plural
    most: int
    window: timedelta


PASSWORDS: Final = AttemptLimit("passwords", WRONG_PASSWORDS, WRONG_PASSWORDS_WINDOW)
CODES: Final = AttemptLimit("codes", WRONG_CODES, WRONG_CODES_WINDOW)
_REFUSALS: Final = AttemptLimit("sign-ins", REFUSALS_RECORDED, REFUSALS_WINDOW)
_TOLERATED: Final = timedelta(minutes=1)  # difference of the clocks of several hosts


def throttle_key(email: str, browser: str | None = None) -> str:
    """The key that attempts are counted under: an address, or an address and a known browser.

    Args:
        email: the address or, for codes, their owner.
        browser: the id in the browser's cookie, whose signature was verified.
    """
    text = fold_text(email) if browser is None else f"{fold_text(email)}\0{browser}"
    return hashlib.sha256(text.encode()).hexdigest()


def count_attempt(
    guessed: AttemptLimit, key: str, subject: str = "", instead: Callable[[], str] = lambda: ""
) -> None:
    """Count an attempt in the current transaction.

    Args:
        subject: the subject of the secret, for the message.
        instead: returns an alternative to waiting, for the message.

    Raises:
        RateLimited: there were more than ``guessed`` allows.
    """
    moment = clock.now()
    failures, began_at = _count_attempt(guessed, key, moment)
    if failures <= guessed.most:
        return
    seconds = max(1, math.ceil((began_at + guessed.window - moment).total_seconds()))
    wait = pluralize(math.ceil(seconds / 60), "minute")
    other = f", or {advice}" if (advice := instead()) else ""
    raise RateLimited(
        f"Too many wrong {guessed.name}{subject}. Please wait {wait}{other}.",
        headers={"Retry-After": str(seconds)},
    )


def count_refusal(client: str) -> bool:
    """Count a refused sign-in of a client, in the current transaction. Returns True for the first
    ``REFUSALS_RECORDED``."""
    return (
        _count_attempt(_REFUSALS, throttle_key("refused", client), clock.now())[0]
        <= REFUSALS_RECORDED
    )


def _count_attempt(guessed: AttemptLimit, key: str, moment: datetime) -> tuple[int, datetime]:
    """Count an attempt in the current window. Returns (its number, start of the window)."""
    has_ended = or_(
        SignInFailure.began_at <= moment - guessed.window,
        SignInFailure.began_at > moment + _TOLERATED,  # the clock was set back
    )
    row = insert_into(SignInFailure).values(key=key, failures=1, began_at=moment)
    counted = row.on_conflict_do_update(
        index_elements=[SignInFailure.key],
        set_={
            "failures": case((has_ended, 1), else_=SignInFailure.failures + 1),
            "began_at": case((has_ended, moment), else_=SignInFailure.began_at),
        },
    ).returning(SignInFailure.failures, SignInFailure.began_at)
    failures, began_at = db.session.execute(counted).one()
    return failures, began_at


def attempts_now(guessed: AttemptLimit, key: str) -> int:
    """The number of attempts in the current window, in the open transaction."""
    counted = select(SignInFailure.failures).where(
        SignInFailure.key == key, SignInFailure.began_at > clock.now() - guessed.window
    )
    return int(db.session.scalar(counted) or 0)


def reset_attempts(*keys: str) -> None:
    """Reset the counts after a right password or a reset."""
    db.session.execute(delete(SignInFailure).where(SignInFailure.key.in_(keys)))
