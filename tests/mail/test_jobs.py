"""The job that sends mails: retries, giving up, leases."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.db.extensions import db
from app.db.transactions import transaction
from app.mail import jobs
from app.mail.errors import Delayed, ServerUnavailable, Undeliverable
from app.mail.jobs import send_mails
from app.mail.leases import LeasedMail
from app.mail.transport import MailFolder
from app.policy.mails import LEASE, RETRY_AFTER
from app.values import clock
from tests.mail.conftest import (
    LINK,
    RECIPIENT,
    AdvanceClock,
    Fail,
    eml_files,
    only_row,
    queue,
    rows,
    send,
    set_row,
)
from tests.make import link_in, mails_to, second_app, together


def test_a_sent_mail_keeps_no_secret(outbox: Flask) -> None:
    queue(outbox)
    assert send(outbox) == 1
    row = only_row(outbox)
    assert (row.sealed, row.due_at, row.error, row.attempts) == (None, None, None, 1)
    assert row.sent_at is not None
    assert send(outbox) == 0
    (mail,) = mails_to(outbox, RECIPIENT)[-1:]
    assert link_in(mail) == LINK


@pytest.mark.both
def test_all_that_is_due_is_sent_the_oldest_first(
    outbox: Flask, advance_clock: AdvanceClock
) -> None:
    advance_clock(timedelta(days=-1))
    for number in range(5):
        queue(outbox, f"nr{number}@example.org")
        advance_clock(timedelta(seconds=1))
    advance_clock(timedelta(days=1))
    queue(outbox, "last@example.org")
    before = set(eml_files(outbox))
    assert send(outbox) == 6
    sent = sorted(set(eml_files(outbox)) - before, key=lambda path: path.stat().st_mtime_ns)
    recipients = [path.read_text().partition("To: ")[2].partition("@")[0] for path in sent]
    assert recipients == ["nr0", "nr1", "nr2", "nr3", "nr4", "last"]


@pytest.mark.both
def test_accounts_take_turns(outbox: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The many mails of one account delay those of others by one mail at most."""
    order: list[str] = []

    def note(_: MailFolder, mail: LeasedMail, message: Any) -> str:
        order.append(mail.recipient)
        return "noted"

    monkeypatch.setattr(MailFolder, "send", note)
    for number in range(6):
        queue(outbox, f"busy{number}@example.org", account_id="acct_busy")
    for number in range(2):
        queue(outbox, f"quiet{number}@example.org", account_id="acct_quiet")
    queue(outbox, "nobody@example.org")
    send(outbox)
    names = [address.partition("@")[0] for address in order]
    assert names == [
        *("busy0", "quiet0", "nobody", "busy1", "quiet1"),
        *("busy2", "busy3", "busy4", "busy5"),
    ]


@pytest.mark.both
def test_a_failed_mail_is_retried_on_schedule_and_then_given_up(
    outbox: Flask, advance_clock: AdvanceClock, failing: Fail
) -> None:
    failing(Delayed("not now"))
    queue(outbox)
    for number, pause in enumerate(RETRY_AFTER, 1):
        assert send(outbox) == 0
        row = only_row(outbox)
        assert (row.attempts, row.error, row.sent_at) == (number, "not now", None)
        assert row.sealed
        advance_clock(pause - timedelta(seconds=2))
        send(outbox)
        assert only_row(outbox).attempts == number, "too early"
        advance_clock(timedelta(seconds=2))
    send(outbox)
    row = only_row(outbox)
    assert (row.attempts, row.due_at, row.sealed, row.sent_at) == (6, None, None, None)
    assert row.error == "not now"


def test_a_mail_is_sent_when_the_server_recovers(
    outbox: Flask, advance_clock: AdvanceClock, failing: Fail
) -> None:
    failing(Delayed("not now"))
    queue(outbox)
    send(outbox)
    failing(None)
    assert send(outbox) == 0
    advance_clock(RETRY_AFTER[0])
    assert send(outbox) == 1
    assert only_row(outbox).error is None


def test_an_undeliverable_mail_is_given_up_at_once(
    outbox: Flask, failing: Fail, caplog: pytest.LogCaptureFixture
) -> None:
    failing(Undeliverable("nobody there"))
    queue(outbox)
    send(outbox)
    row = only_row(outbox)
    assert (row.attempts, row.due_at, row.sealed, row.error) == (1, None, None, "nobody there")
    assert f"mail {row.id} (verify_email) failed for good at attempt 1: nobody there" in caplog.text


def test_an_unavailable_server_uses_no_attempts_of_other_mails(
    outbox: Flask, failing: Fail
) -> None:
    failing(ServerUnavailable("no server"))
    for name in ("first@example.org", "second@example.org"):
        queue(outbox, name)
    send(outbox)
    assert only_row(outbox, "first@example.org").attempts == 1
    assert only_row(outbox, "second@example.org").attempts == 0
    send(outbox)
    assert only_row(outbox, "second@example.org").attempts == 1


def test_a_mail_is_not_retried_after_its_link_expires(
    outbox: Flask, advance_clock: AdvanceClock, failing: Fail
) -> None:
    failing(Delayed("not now"))
    queue(outbox, kind="reset_password")
    for pause in RETRY_AFTER[:3]:
        send(outbox)
        assert only_row(outbox).due_at is not None
        advance_clock(pause)
    send(outbox)  # after 36 minutes; the next would be in two hours
    row = only_row(outbox)
    assert (row.attempts, row.due_at, row.error) == (4, None, "not now")


def test_a_mail_with_an_expired_link_is_not_sent(
    outbox: Flask, advance_clock: AdvanceClock, failing: Fail
) -> None:
    failing(Delayed("not now"))
    queue(outbox, kind="reset_password")
    send(outbox)
    failing(None)
    advance_clock(timedelta(hours=2))  # nobody worked
    assert send(outbox) == 0
    assert only_row(outbox).error == "its link has expired"


def test_a_mail_sealed_with_another_key_is_given_up(
    outbox: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    before = mails_to(outbox, RECIPIENT)
    queue(outbox)
    with second_app(outbox, secret_key="k" * 40) as other:
        assert send(other) == 0
    row = only_row(outbox)
    assert (row.due_at, row.sealed, row.sent_at) == (None, None, None)
    assert row.error == "encrypted with another SECRET_KEY"
    assert caplog.text.count("encrypted with another SECRET_KEY") == 1
    assert len(mails_to(outbox, RECIPIENT)) == len(before)


def test_a_damaged_row_is_given_up(outbox: Flask) -> None:
    for number, sealed in enumerate(("", "gAAAA", "é")):
        recipient = f"damaged{number}@example.org"
        queue(outbox, recipient)
        set_row(outbox, recipient, sealed=sealed)
        assert send(outbox) == 0
        assert only_row(outbox, recipient).error == "encrypted with another SECRET_KEY"


def test_a_bug_in_one_mail_does_not_block_others(
    outbox: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    queue(outbox, "faulty@example.org", kind="no_such_kind")
    queue(outbox, "lacking@example.org", kind="reset_password", name="Jo Forester")
    queue(outbox, "fine@example.org")
    assert send(outbox) == 1
    for name in ("faulty@example.org", "lacking@example.org"):
        row = only_row(outbox, name)
        assert row.due_at is not None
        assert row.error == "an error in Canopy; see its log"
    assert "Jo Forester" not in caplog.text
    assert LINK not in caplog.text


def test_a_database_outage_does_not_count_as_a_failed_mail(
    outbox: Flask, monkeypatch: pytest.MonkeyPatch, advance_clock: AdvanceClock
) -> None:
    def fail(*_: Any) -> Any:
        raise OperationalError("SELECT 1", {}, Exception("gone"))

    monkeypatch.setattr(jobs, "resolve_mail", fail)
    queue(outbox)
    with outbox.app_context(), pytest.raises(OperationalError):
        send_mails()
    monkeypatch.undo()
    assert only_row(outbox).error is None
    advance_clock(LEASE)
    assert send(outbox) == 1


def test_a_sent_mail_is_recorded_when_the_database_is_back(
    outbox: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SAVE_RETRY_AFTER", (0.0, 0.0))
    real, tries = jobs.mark_sent, []

    def fail_twice(mail: Any) -> None:
        tries.append(mail)
        if len(tries) < 3:
            raise OperationalError("UPDATE", {}, Exception("gone"))
        real(mail)

    monkeypatch.setattr(jobs, "mark_sent", fail_twice)
    queue(outbox)
    assert send(outbox) == 1
    assert len(tries) == 3
    assert only_row(outbox).sent_at is not None


def test_a_mail_that_kills_its_workers_is_given_up(outbox: Flask) -> None:
    queue(outbox)
    set_row(outbox, attempts=6)
    assert send(outbox) == 0
    assert only_row(outbox).error == "no attempt came to an end"


@pytest.mark.both
def test_several_workers_send_each_mail_once(outbox: Flask) -> None:
    for number in range(24):
        queue(outbox, f"many{number}@example.org")
    before = set(eml_files(outbox))
    sent = together(*[lambda: send(outbox)] * 4)
    assert sum(sent) == 24
    files = set(eml_files(outbox)) - before
    assert len(files) == 24
    with_id = {path.name.rpartition("-")[2] for path in files}
    assert len(with_id) == 24
    assert {row.attempts for n in range(24) for row in rows(outbox, f"many{n}@example.org")} == {1}


def test_a_run_ends_in_time(outbox: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RUN_FOR", 0.0)
    queue(outbox)
    assert send(outbox) == 0
    assert only_row(outbox).attempts == 0


@pytest.mark.both
def test_a_worker_with_an_expired_lease_changes_nothing(
    outbox: Flask, advance_clock: AdvanceClock
) -> None:
    queue(outbox)
    with outbox.app_context(), transaction():
        late = jobs.lease_mail()
        db.session.commit()
        advance_clock(LEASE)
        assert send_mails() == 1
        assert late is not None
        jobs.mark_failed(late, "late", clock.now())
    row = only_row(outbox)
    assert (row.due_at, row.error) == (None, None)


def test_a_mail_sent_after_its_lease_is_not_sent_again(
    outbox: Flask, advance_clock: AdvanceClock
) -> None:
    queue(outbox)
    with outbox.app_context(), transaction():
        late = jobs.lease_mail()
        db.session.commit()
        advance_clock(LEASE)
        other = jobs.lease_mail()
        db.session.commit()
        assert late is not None
        assert other is not None
        jobs.mark_sent(late)
        jobs.mark_failed(other, "not now", clock.now())
    row = only_row(outbox)
    assert (row.due_at, row.error) == (None, None)
    assert row.sent_at is not None


@pytest.mark.both
def test_a_leased_mail_is_skipped_until_its_lease_ends(
    outbox: Flask, advance_clock: AdvanceClock
) -> None:
    queue(outbox)
    with outbox.app_context(), transaction():
        assert jobs.lease_mail() is not None
    advance_clock(LEASE - timedelta(seconds=5))
    assert send(outbox) == 0
    advance_clock(timedelta(seconds=5))
    assert send(outbox) == 1
    assert only_row(outbox).attempts == 2


def test_the_log_contains_no_secrets(outbox: Flask, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    queue(outbox, "quiet@example.org", name="Jo Forester", link=LINK)
    assert send(outbox) == 1
    assert "written to" in caplog.text
    for secret in (LINK, "Jo Forester", "quiet@example.org"):
        assert secret not in caplog.text
