"""``bin/canopy mail test``."""

from __future__ import annotations

import json
from pathlib import Path

from flask import Flask

from app.settings.mail import mail_server
from tests.cli.conftest import Run, runner
from tests.mail.servers import smtp_server
from tests.make import second_app


def test_without_a_server_it_says_where_the_mail_is(run: Run, app: Flask) -> None:
    result = run("mail", "test", "jo@example.org", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    path = Path(told["result"].removeprefix("written to "))
    assert path.parent == app.config["SETTINGS"].instance_path / "mails"
    assert "To: jo@example.org" in path.read_text()
    assert told["id"] in path.name


def test_a_server_gets_it_at_once(app: Flask) -> None:
    with smtp_server() as (inbox, port):
        server = mail_server(f"smtp://127.0.0.1:{port}")
        with second_app(app, mail_url=server) as connected:
            result = runner(connected)("mail", "test", "jo@example.org")
    assert result.exit_code == 0, result.stderr
    assert "accepted by 127.0.0.1" in result.stdout
    assert inbox.recipients == ["jo@example.org"]


def test_a_refusal_is_told_with_the_words_of_the_server(app: Flask) -> None:
    with smtp_server() as (inbox, port):
        inbox.replies["RCPT"] = "550 5.1.1 No such user here"
        server = mail_server(f"smtp://127.0.0.1:{port}")
        with second_app(app, mail_url=server) as connected:
            result = runner(connected)("mail", "test", "jo@example.org")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "the mail server refused the recipient (550)" in result.stderr
    assert "No such user here" in result.stderr


def test_an_address_that_is_none(run: Run) -> None:
    for address in ("jo", "jo@example.org\n", ""):
        result = run("mail", "test", address)
        assert result.exit_code == 2
        assert "ADDRESS" in result.stderr
