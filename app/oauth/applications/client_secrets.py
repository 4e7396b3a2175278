"""The secrets of applications: rotating them, with an overlap in which the former one works too."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from app.audit.entries import write_entry
from app.auth.tenant import find_locked
from app.http.errors import Conflict
from app.models import OAuthApplication
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT
from app.security import tokens
from app.values import clock

_MARK_LENGTH: Final = 8


class RotatedSecret(NamedTuple):
    """A new secret, and until when the former one works too; None if it does not."""

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
) -> RotatedSecret | None:
    """Give an application a new secret. A former secret from an earlier rotation ends at once.

    Returns None if the account has no such application.

    Args:
        overlap_hours: the hours for which the current secret works beside the new one.
        mark: the ``secret_mark`` of the secret to replace. Of several rotations with the same mark,
            only the first succeeds.

    Raises:
        Conflict: the application is public, or its secret was changed since.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    if application.secret_hash is None:
        raise Conflict("public_application", "client_id", "A public application has no secret.")
    if mark not in (None, secret_mark(application.secret_hash)):
        raise Conflict(
            "changed_meanwhile",
            "client_secret",
            "The secret was rotated since this page was loaded, and was not rotated again. The new "
            "secret was shown once. If nobody has it, rotate it from here.",
        )
    secret, now = new_secret(), clock.now()
    until = now + timedelta(hours=overlap_hours) if overlap_hours else None
    application.former_secret_hash = application.secret_hash if until else None
    application.former_secret_until = until
    application.secret_hash = tokens.hash_token(secret)
    application.updated_at = now
    write_entry("application.secret_rotated", application)
    return RotatedSecret(secret, clock.format_optional_time(until))


def end_former_secret(account_id: str, client_id: str) -> bool | None:
    """Invalidate the former secret of an application.

    Returns False if none still worked, and None if the account has no such application.
    """
    application = find_locked(account_id, OAuthApplication, client_id)
    if application is None:
        return None
    worked = still_works(application.former_secret_until)
    application.former_secret_hash = application.former_secret_until = None
    application.updated_at = clock.now()
    if worked:
        write_entry("application.former_secret_ended", application)
    return worked


def still_works(until: datetime | str | None) -> bool:
    """True if a former secret that works until then has not ended."""
    text = clock.format_optional_time(until)
    return text is not None and clock.format_time(clock.now()) < text


def secret_mark(secret_hash: str) -> str:
    """A short mark that differs between the secrets of an application."""
    return tokens.hash_token(secret_hash)[:_MARK_LENGTH]
