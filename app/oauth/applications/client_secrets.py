"""The secrets of applications: rotating them, with a time in which the former one works too."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from app.audit.entries import record
from app.auth.tenant import find_locked
from app.http.errors import Conflict
from app.models import OAuthApplication
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT
from app.security import tokens
from app.values import clock

_MARK_LENGTH: Final = 8


class Rotated(NamedTuple):
    """A new secret, which is not shown again, and until when the former one works too; None if it
    does not."""

    secret: str
    former_until: str | None


def new_secret() -> str:
    return tokens.new_token(tokens.CLIENT_SECRET)


def rotate_secret(
    account_id: str,
    client_id: str,
    *,
    overlap_hours: int = OVERLAP_HOURS_DEFAULT,
    mark: str | None = None,
) -> Rotated | None:
    """Give an application a new secret. One that was former before stops working at once.

    Returns None if the account has no such application.

    Args:
        overlap_hours: how long the present secret works beside the new one.
        mark: ``secret_mark`` of the secret that is meant. Of several rotations with the same mark,
            only the first succeeds.

    Raises:
        Conflict: it is public, or its secret is another one by now.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    if application.secret_hash is None:
        raise Conflict("A public application has no secret.")
    if mark not in (None, secret_mark(application.secret_hash)):
        raise Conflict(
            "The secret was rotated since this page was loaded, and was not rotated again. The new "
            "secret was shown once. If nobody has it, rotate it from here."
        )
    secret, moment = new_secret(), clock.now()
    until = moment + timedelta(hours=overlap_hours) if overlap_hours else None
    application.former_secret_hash = application.secret_hash if until else None
    application.former_secret_until = until
    application.secret_hash = tokens.hash_token(secret)
    application.updated_at = moment
    record("application.secret_rotated", application)
    return Rotated(secret, clock.format_optional_time(until))


def end_former_secret(account_id: str, client_id: str) -> bool | None:
    """Have only the present secret be accepted from now on.

    Returns whether a former one still worked; None if the account has no such application.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    worked = is_running(application.former_secret_until)
    application.former_secret_hash = application.former_secret_until = None
    application.updated_at = clock.now()
    if worked:
        record("application.former_secret_ended", application)
    return worked


def is_running(until: datetime | str | None) -> bool:
    """Whether a former secret that works until then still works."""
    text = clock.format_optional_time(until)
    return text is not None and clock.format_time(clock.now()) < text


def secret_mark(secret_hash: str) -> str:
    """Tells the secret with this hash from the one before and the next."""
    return tokens.hash_token(secret_hash)[:_MARK_LENGTH]
