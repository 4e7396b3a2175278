"""The job that sends mails."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Final

from flask import current_app
from rq.timeouts import JobTimeoutException
from sqlalchemy.exc import DBAPIError

from app.db.engines import is_outage
from app.db.extensions import db
from app.jobs.registry import Job
from app.mail.errors import Delayed, MailFailed, ServerUnavailable, Undeliverable
from app.mail.leases import (
    Contents,
    LeasedMail,
    keep_contents,
    lease_next,
    note_dropped,
    note_failed,
    note_sent,
    open_contents,
)
from app.mail.messages import Envelope, compose
from app.mail.resolvers import resolve_mail
from app.mail.transport import Transport, open_transport
from app.policy.mails import LINK_LIVES, NOTE_AGAIN_AFTER, RETRY_AFTER, RUN_FOR
from app.values import clock

log = logging.getLogger(__name__)

_ATTEMPTS: Final = len(RETRY_AFTER) + 1


def send_mails() -> int:
    """Send mails until none is due. Returns how many were sent.

    It ends early when its time is over or the mail server cannot be used; the next run goes on.
    """
    sent = 0
    end = time.monotonic() + RUN_FOR
    with closing(open_transport(current_app.config["SETTINGS"])) as transport:
        while time.monotonic() < end and (claim := _claim()) is not None:
            try:
                sent += _handle(claim, transport)
            except ServerUnavailable:
                break
    return sent


def _claim() -> LeasedMail | None:
    claim = lease_next()
    db.session.commit()
    return claim


def _handle(claim: LeasedMail, transport: Transport) -> bool:
    """Send a mail and note what became of it. Returns whether it was sent.

    Raises:
        ServerUnavailable: it was not, and no other mail would be now.
    """
    contents = None
    try:
        with _errors_as_delays(claim):
            claim, contents = _resolve(claim)
            if contents is None:
                return False
            told = _send(claim, contents, transport)
    except MailFailed as failure:
        _note_failure(claim, contents, failure)
        if isinstance(failure, ServerUnavailable):
            raise
        return False
    _note_sent(claim)
    log.info("mail %s (%s) %s", claim.id, claim.kind, told)
    return True


def _note_sent(claim: LeasedMail) -> None:
    """Note it also when the database is away for a moment, or the mail is sent once more."""
    for pause in (*NOTE_AGAIN_AFTER, None):
        try:
            note_sent(claim)
            db.session.commit()
        except DBAPIError as error:
            db.session.rollback()
            if pause is None or not is_outage(error):
                raise
            time.sleep(pause)
        else:
            return


def _resolve(claim: LeasedMail) -> tuple[LeasedMail, Contents | None]:
    """The mail with what it says for good, found out and kept at the first attempt.

    Returns None for the contents when nobody is to get it, or somebody else is sending it.
    """
    if claim.attempts > _ATTEMPTS:
        raise Undeliverable("no attempt came to an end")
    try:
        contents = open_contents(claim)
    except ValueError as error:
        raise Undeliverable(str(error)) from None
    if contents.resolved_at is not None:
        return claim, contents
    found = resolve_mail(claim.kind, claim.recipient, contents.values)
    if found is None:
        log.info("mail %s (%s) is for nobody, or one too many: dropped", claim.id, claim.kind)
        note_dropped(claim)
        db.session.commit()
        return claim, None
    kind, values = found
    contents = Contents(values, clock.now())
    if not keep_contents(claim, kind, contents):
        db.session.rollback()
        return claim, None
    db.session.commit()
    return claim._replace(kind=kind), contents


def _send(claim: LeasedMail, contents: Contents, transport: Transport) -> str:
    moment = contents.resolved_at
    assert moment is not None
    if _is_link_dead(claim, contents, clock.now()):
        raise Undeliverable("its link can no longer be followed")
    envelope = Envelope(claim.id, claim.recipient, moment)
    message = compose(envelope, claim.kind, contents.values, current_app.config["SETTINGS"])
    return transport.send(claim, message)


def _note_failure(claim: LeasedMail, contents: Contents | None, failure: MailFailed) -> None:
    again_at = None
    if isinstance(failure, Delayed) and claim.attempts < _ATTEMPTS:
        again_at = clock.now() + RETRY_AFTER[claim.attempts - 1]
        if contents is not None and _is_link_dead(claim, contents, again_at):
            again_at = None
    note_failed(claim, failure.reason, again_at)
    db.session.commit()
    told = (claim.id, claim.kind, claim.attempts, failure.reason)
    if again_at is None:
        log.error("mail %s (%s) is given up at attempt %d: %s", *told)
    else:
        log.warning("mail %s (%s) failed at attempt %d, and is tried again: %s", *told)


def _is_link_dead(claim: LeasedMail, contents: Contents, moment: datetime) -> bool:
    life = LINK_LIVES.get(claim.kind)
    made_at = contents.resolved_at
    return life is not None and made_at is not None and moment >= made_at + life


@contextmanager
def _errors_as_delays(claim: LeasedMail) -> Iterator[None]:
    """A fault in making one mail puts that one off, and keeps no other one waiting."""
    try:
        yield
    except (MailFailed, JobTimeoutException):
        raise
    except Exception as error:
        db.session.rollback()
        if is_outage(error):
            raise
        log.exception("mail %s (%s) cannot be made", claim.id, claim.kind)
        raise Delayed("a fault of Canopy; its log tells more") from error


JOBS: Final = (Job(send_mails, every_seconds=15),)
