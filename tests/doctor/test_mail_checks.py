"""What the doctor says about mails: of the server, and of those that did not arrive."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.doctor.checks import mail
from app.doctor.findings import Finding, Status
from app.models import Mail
from app.values import clock
from app.values.ids import new_id
from config import load_settings
from tests.doctor.test_doctor import environ_of, findings_of, problems
from tests.mail.servers import smtp_server
from tests.ports import free_port

_numbers = itertools.count(1)


def server_findings(app: Flask, **environ: str) -> list[Finding]:
    return list(mail.check_mail_server(load_settings(environ_of(app) | environ)))


@pytest.mark.parametrize(
    ("name", "status"), [("development", Status.OK), ("production", Status.WARNING)]
)
def test_without_a_server(sqlite: Flask, name: str, status: Status) -> None:
    (found,) = server_findings(sqlite, CANOPY_ENV=name)
    assert found.status is status
    assert f"{sqlite.instance_path}/mails" in found.found
    assert ("MAIL_URL" in found.advice) is (status is Status.WARNING)


def test_a_server_that_takes_mails(sqlite: Flask) -> None:
    with smtp_server() as (inbox, port):
        (found,) = server_findings(
            sqlite, MAIL_URL=f"smtp://127.0.0.1:{port}", MAIL_FROM="Canopy <canopy@forest.example>"
        )
    assert found == Finding(
        Status.OK, f"127.0.0.1:{port} accepts emails from canopy@forest.example"
    )
    assert inbox.senders == []


def test_a_sender_that_was_forgotten(sqlite: Flask) -> None:
    with smtp_server() as (_, port):
        _, found = server_findings(sqlite, MAIL_URL=f"smtp://127.0.0.1:{port}")
    assert found.status is Status.WARNING
    assert "MAIL_FROM" in found.advice


@pytest.mark.parametrize(
    ("url", "options", "words", "advice"),
    [
        ("smtp://127.0.0.1:{port}?starttls=required", {}, "does not offer STARTTLS", "smtps://"),
        (
            "smtp://u:hunter2@127.0.0.1:{port}",
            {},
            "does not accept a user and password",
            "Correct the user",
        ),
        (
            "smtp://u:hunter2@127.0.0.1:{port}",
            {"auth": True, "auth_in_the_clear": True},
            "refused the user and password (535), says:",
            "Percent-encode",
        ),
        ("smtps://127.0.0.1:{port}", {}, "no encrypted connection", "host and port"),
        ("smtp://127.0.0.1:{other}", {}, "cannot be reached", "host and port"),
    ],
)
def test_a_server_that_cannot_be_used(
    sqlite: Flask, url: str, options: dict[str, Any], words: str, advice: str
) -> None:
    with smtp_server(**options) as (_, port):
        address = url.format(port=port, other=free_port())
        found = server_findings(sqlite, MAIL_URL=address, MAIL_FROM="a@forest.example")[0]
    assert found.status is Status.PROBLEM
    assert words in found.found
    assert advice in found.advice
    assert "hunter2" not in str(found)


def test_the_doctor_tries_the_server(sqlite: Flask) -> None:
    found = findings_of(environ_of(sqlite) | {"MAIL_URL": f"smtp://127.0.0.1:{free_port()}"})
    assert problems(found) == {"mail server"}


def _add(app: Flask, age: timedelta = timedelta(), **values: Any) -> None:
    row = {
        "id": new_id("mail"),
        "kind": "test",
        "recipient": "jo@example.org",
        "cause": f"check {next(_numbers)}",
        "turn_of": "",
        "attempts": 1,
        "created_at": clock.now() - age,
    }
    with app.app_context(), transaction():
        db.session.add(Mail(**row | values))


def test_mails_that_were_sent_are_fine(instance: Flask) -> None:
    _add(instance, sent_at=clock.now())
    _add(instance)  # nobody was to get it
    _add(instance, due_at=clock.now())
    found = findings_of(environ_of(instance))["mails"]
    assert found.status is Status.OK
    assert found.found == "emails waiting: 1; none failed for good in the last two days"


@pytest.mark.slow
def test_mails_that_were_given_up(instance: Flask) -> None:
    _add(instance, timedelta(days=3), error="of another day")
    _add(instance, error="the mail server refused the recipient (550)")
    _add(instance, error="the mail server refused the recipient (550)")
    _add(instance, error="encrypted with another SECRET_KEY")
    found = findings_of(environ_of(instance))["mails"]
    assert found.status is Status.WARNING
    assert found.found == (
        "3 emails failed for good in the last two days: "
        "the mail server refused the recipient (550) (2); encrypted with another SECRET_KEY (1)"
    )


def test_mails_that_wait_for_long(instance: Flask) -> None:
    _add(instance, timedelta(hours=1), due_at=clock.now())
    found = findings_of(environ_of(instance))["mails"]
    assert found.status is Status.WARNING
    assert "Emails waiting: 1, the oldest since" in found.found
    assert findings_of(environ_of(instance) | {"OUTBOUND": "off"})["mails"].status is Status.OK
