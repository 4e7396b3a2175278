"""Whether mails can be sent, and whether any are late or failed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, cast

from sqlalchemy import Connection, Table, func, select

from app.doctor.results import Result, ok, problem, warning
from app.mail.transport import find_problem
from app.models import Mail
from app.values import clock
from config import Settings

_TIMEOUT: Final = 5.0  # seconds, for each reply of the server
_LATE: Final = timedelta(minutes=15)
_RECENT: Final = timedelta(days=2)  # the last attempt is up to 15 hours after the first
_MAILS: Final = cast("Table", Mail.__table__)

# What to do, by a word of the reason.
_ADVICE: Final = {
    "certificate": "Name a file with the certificate of its authority: ?ca=/path behind MAIL_URL. "
    "For a server on this machine ?starttls=never will do.",
    "user and password": "Correct user and password in MAIL_URL; special characters in them are "
    "percent-encoded.",
    "STARTTLS": "Use smtps:// or the port for submission, 587, in MAIL_URL; a password is not sent "
    "unencrypted.",
}
_OTHER_ADVICE: Final = "Correct host and port in MAIL_URL, or start the server; mails wait for it."


def server(settings: Settings) -> Iterator[Result]:
    """The mail server accepts connections and the password."""
    if settings.mail_url is None:
        yield _without_server(settings)
        return
    failure = find_problem(settings, within=_TIMEOUT)
    name = f"{settings.mail_url.host}:{settings.mail_url.port}"
    if failure is None:
        yield ok(f"{name} takes mails from {settings.mail_from.address}")
    else:
        advice = next((text for word, text in _ADVICE.items() if word in failure.reason), "")
        reply = f", says: {failure.reply}" if failure.reply else ""
        yield problem(f"{name}: {failure.reason}{reply}", advice or _OTHER_ADVICE)
    if settings.mail_from.address.endswith("@localhost"):
        yield warning(
            f"MAIL_FROM is {settings.mail_from.address}, which other servers refuse",
            "Set MAIL_FROM to an address of your own, such as Canopy <canopy@example.org>.",
        )


def undelivered(connection: Connection) -> Iterator[Result]:
    """No mail waits for long, and none has failed for good."""
    now = clock.now()
    waiting, oldest = connection.execute(
        select(func.count(), func.min(_MAILS.c.created_at)).where(_MAILS.c.due_at.is_not(None))
    ).one()
    reasons = connection.execute(
        select(_MAILS.c.error, func.count())
        .where(
            _MAILS.c.due_at.is_(None),
            _MAILS.c.sent_at.is_(None),
            _MAILS.c.error.is_not(None),
            _MAILS.c.created_at > now - _RECENT,
        )
        .group_by(_MAILS.c.error)
        .order_by(func.count().desc())
    ).all()
    if oldest is not None and oldest < now - _LATE:
        yield warning(
            f"{waiting:,} mails wait, the oldest since {clock.format_time(oldest)}",
            "Look for lines of app.mail in worker.log; is a worker running?",
        )
    if reasons:
        number = sum(count for _, count in reasons)
        shown = "; ".join(f"{error} ({count:,})" for error, count in reasons[:3])
        yield warning(
            f"{number:,} mails of the last two days are given up: {shown}",
            "They are not tried again: have a link sent anew where somebody waits for one.",
        )
    if not reasons and (oldest is None or oldest >= now - _LATE):
        yield ok(f"{waiting:,} mails wait, none was given up in the last two days")


def _without_server(settings: Settings) -> Result:
    found = f"MAIL_URL is unset: mails are written to {settings.instance_path / 'mails'}"
    if not settings.production:
        return ok(found)
    return warning(
        f"{found}, and reach nobody", "Set MAIL_URL, so that people can sign up and be invited."
    )
