"""The job that sends mails."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Final

from rq.timeouts import JobTimeoutException
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from app.db.due_times import shorten_waits
from app.db.engines import is_outage
from app.db.extensions import db
from app.db.queries import reading_connection
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.shared_metrics import increment_counter
from app.jobs.valkey import valkey
from app.mail.errors import Delayed, MailError, ServerUnavailable, Undeliverable
from app.mail.leases import (
    Contents,
    LeasedMail,
    has_due_mail,
    lease_mail,
    mark_dropped,
    mark_failed,
    mark_sent,
    store_contents,
    unseal_contents,
)
from app.mail.messages import Envelope, compose_message
from app.mail.resolvers import resolve_mail
from app.mail.service import NEW_MAILS
from app.mail.transport import Transport, open_transport
from app.models import Mail, User
from app.outbound.switch import is_off_for
from app.policy.mails import LINK_LIVES, LONGEST_WAITS, RETRY_AFTER, RUN_FOR, SAVE_RETRY_AFTER
from app.settings.current import current_settings
from app.values import clock
from app.values.folding import fold_text

log = logging.getLogger(__name__)

_ATTEMPTS: Final = len(RETRY_AFTER) + 1
_ATTEMPTED: Final = "canopy_mail_attempts_total"


def send_mails() -> int:
    """Send mails until none is due. Returns the number of sent ones.

    Stops early when its time is up or the mail server is unavailable; the next run continues.
    """
    valkey().attempt(NEW_MAILS.begin)
    sent = 0
    end = time.monotonic() + RUN_FOR
    with closing(open_transport(current_settings())) as transport:
        while time.monotonic() < end and (mail := _lease_mail()) is not None:
            try:
                sent += _process_mail(mail, transport)
            except ServerUnavailable:
                break
    return sent


def _lease_mail() -> LeasedMail | None:
    """Lease the next mail to send. Returns None if none is due, or nothing may be sent."""
    with transaction():
        mail = lease_mail()
        # Asked after the lease, as a restore may have brought this mail and the switch; and in this
        # transaction, as a thread that waits for a second connection could wait for itself.
        if is_off_for(current_settings(), db.session()):
            db.session.rollback()
            return None
    return mail


def _process_mail(mail: LeasedMail, transport: Transport) -> bool:
    """Send a mail and save the outcome. Returns False if it was not sent.

    Raises:
        ServerUnavailable: no mail can be sent now.
    """
    contents = None
    try:
        with _delay_on_error(mail):
            mail, contents = _resolve_contents(mail)
            if contents is None:
                return False
            outcome = _send_mail(mail, contents, transport)
    except MailError as failure:
        _mark_failed(mail, contents, failure)
        if isinstance(failure, ServerUnavailable):
            raise
        return False
    _mark_sent(mail)
    increment_counter(_ATTEMPTED, "sent")
    log.info("mail %s (%s) %s", mail.id, mail.kind, outcome)
    return True


def _mark_sent(mail: LeasedMail) -> None:
    """Mark a mail as sent. Retries while the database is down, or the mail would be sent again."""
    for pause in (*SAVE_RETRY_AFTER, None):
        try:
            with transaction():
                mark_sent(mail)
        except DBAPIError as error:
            if pause is None or not is_outage(error):
                raise
            time.sleep(pause)
        else:
            return


def _resolve_contents(mail: LeasedMail) -> tuple[LeasedMail, Contents | None]:
    """Return (mail, final contents), which the first attempt determines and stores.

    The contents are None if the mail is dropped, or if another worker is sending it.
    """
    if mail.attempts > _ATTEMPTS:
        raise Undeliverable("no attempt came to an end")
    try:
        contents = unseal_contents(mail)
    except ValueError as error:
        raise Undeliverable(str(error)) from None
    if contents.resolved_at is not None:
        return mail, contents
    resolved = resolve_mail(mail.kind, mail.recipient, contents.values)
    if resolved is None:
        log.info("mail %s (%s) dropped: recipient gone or limit reached", mail.id, mail.kind)
        mark_dropped(mail)
        db.session.commit()
        increment_counter(_ATTEMPTED, "dropped")
        return mail, None
    kind, values = resolved
    contents = Contents(values, clock.now())
    if not store_contents(mail, kind, contents):
        db.session.rollback()
        return mail, None
    db.session.commit()
    return mail._replace(kind=kind), contents


def _send_mail(mail: LeasedMail, contents: Contents, transport: Transport) -> str:
    date = contents.resolved_at
    assert date is not None
    if _has_link_expired(mail, contents, clock.now()):
        raise Undeliverable("its link has expired")
    envelope = Envelope(mail.id, mail.recipient, date, *_formats_of(mail.recipient))
    message = compose_message(envelope, mail.kind, contents.values, current_settings())
    return transport.send(mail, message)


def _formats_of(recipient: str) -> tuple[str | None, str | None]:
    """Return the locale and the time zone that the recipient has chosen."""
    chosen = select(User.locale, User.time_zone).where(User.email_key == fold_text(recipient))
    with reading_connection() as connection:
        row = connection.execute(chosen).first()
    return (row[0], row[1]) if row else (None, None)


def _mark_failed(mail: LeasedMail, contents: Contents | None, failure: MailError) -> None:
    retry_at = None
    if isinstance(failure, Delayed) and mail.attempts < _ATTEMPTS:
        retry_at = clock.now() + RETRY_AFTER[mail.attempts - 1]
        if contents is not None and _has_link_expired(mail, contents, retry_at):
            retry_at = None
    with transaction():
        mark_failed(mail, failure.reason, retry_at)
    increment_counter(_ATTEMPTED, "failed" if retry_at is None else "retried")
    details = (mail.id, mail.kind, mail.attempts, failure.reason)
    if retry_at is None:
        log.error("mail %s (%s) failed for good at attempt %d: %s", *details)
    else:
        log.warning("mail %s (%s) failed at attempt %d, will retry: %s", *details)


def _has_link_expired(mail: LeasedMail, contents: Contents, at: datetime) -> bool:
    life = LINK_LIVES.get(mail.kind)
    created_at = contents.resolved_at
    return life is not None and created_at is not None and at >= created_at + life


@contextmanager
def _delay_on_error(mail: LeasedMail) -> Iterator[None]:
    """Treat a bug in composing a mail as a temporary failure, so that it does not block others."""
    try:
        yield
    except (MailError, JobTimeoutException):
        raise
    except Exception as error:
        db.session.rollback()
        if is_outage(error):
            raise
        log.exception("mail %s (%s) could not be composed", mail.id, mail.kind)
        raise Delayed("an error in Canopy; see its log") from error


def shorten_mail_waits() -> int:
    """Shorten the waits of mails that are too long because the clock was set back. Returns their
    number."""
    with transaction():
        return shorten_waits(Mail, LONGEST_WAITS)


JOBS: Final = (
    Job(send_mails, every_seconds=15, signal=NEW_MAILS, is_due=has_due_mail),
    Job(shorten_mail_waits, every_seconds=300),
)
