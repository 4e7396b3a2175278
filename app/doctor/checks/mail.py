"""Checks that emails can be sent, and are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, cast

from sqlalchemy import Connection, Table, func, select

from app.doctor.findings import Finding, ok, problem, warning
from app.mail.transport import mail_server_problem
from app.models import Mail
from app.outbound.switch import is_off_for
from app.values import clock
from config import Settings

_TIMEOUT: Final = 5.0  # seconds, for each reply of the server
_LATE: Final = timedelta(minutes=15)
_RECENT: Final = timedelta(days=2)  # the last attempt is up to 15 hours after the first
_MAILS: Final = cast("Table", Mail.__table__)

# Advice by a word in the reason.
_ADVICE: Final = {
    "certificate": "Append ?ca= and the path of its authority's certificate to MAIL_URL. For a "
    "server on this machine, ?starttls=never is enough.",
    "user and password": "Correct the user and password in MAIL_URL. Percent-encode special "
    "characters in them.",
    "STARTTLS": "Use smtps:// or the submission port, 587, in MAIL_URL. Passwords are not sent "
    "unencrypted.",
}
_OTHER_ADVICE: Final = "Correct the host and port in MAIL_URL, or start the server. Emails wait."


def check_mail_server(settings: Settings) -> Iterator[Finding]:
    """Check that the mail server accepts connections and the password."""
    if settings.mail_url is None:
        yield _without_server(settings)
        return
    failure = mail_server_problem(settings, within=_TIMEOUT)
    name = f"{settings.mail_url.host}:{settings.mail_url.port}"
    if failure is None:
        yield ok(f"{name} accepts emails from {settings.mail_from.address}")
    else:
        advice = next((text for word, text in _ADVICE.items() if word in failure.reason), "")
        reply = f", says: {failure.reply}" if failure.reply else ""
        yield problem(f"{name}: {failure.reason}{reply}", advice or _OTHER_ADVICE)
    if settings.mail_from.address.endswith("@localhost"):
        yield warning(
            f"MAIL_FROM is {settings.mail_from.address}, which other servers reject",
            "Set MAIL_FROM to an address of your own, such as Canopy <canopy@example.org>.",
        )


def check_undelivered_mails(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Check that no email waits for long, unless all are held, or has failed for good."""
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
    is_late = oldest is not None and oldest < now - _LATE and not is_off_for(settings, connection)
    if is_late:
        yield warning(
            f"Emails waiting: {waiting:,}, the oldest since {clock.format_time(oldest)}",
            "Check that a worker is running, and look for lines from app.mail in the worker's log.",
        )
    if reasons:
        number = sum(count for _, count in reasons)
        causes = "; ".join(f"{error} ({count:,})" for error, count in reasons[:3])
        yield warning(
            f"{number:,} emails failed for good in the last two days: {causes}",
            "They are not retried. If somebody is waiting for a link, send them a new one.",
        )
    if not (reasons or is_late):
        yield ok(f"emails waiting: {waiting:,}; none failed for good in the last two days")


def _without_server(settings: Settings) -> Finding:
    sentence = f"MAIL_URL is unset: emails are written to {settings.instance_path / 'mails'}"
    if not settings.production:
        return ok(sentence)
    return warning(
        f"{sentence}, and reach nobody", "Set MAIL_URL, so that people can sign up and be invited."
    )
