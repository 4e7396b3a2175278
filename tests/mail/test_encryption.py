"""Encryption and authentication, and keeping the password from untrusted servers."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from flask import Flask

from app.mail.transport import mail_server_problem
from app.settings.mail import mail_server
from tests.mail.conftest import Connected, only_row, queue, send
from tests.mail.servers import PASSWORD, QUOTED, Authority
from tests.make import second_app


class TestEncryption:
    def test_starttls_is_used_when_it_is_offered(
        self, connected: Connected, authority: Authority
    ) -> None:
        app, inbox = connected(f"?ca={authority.ca_path}", starttls=authority.context)
        queue(app)
        assert send(app) == 1
        assert inbox.encrypted == [True]

    def test_an_authority_without_key_usage(self, connected: Connected, tmp_path: Path) -> None:
        """As ``openssl req -x509`` makes one; Python's default since 3.13 refuses it."""
        own = Authority(tmp_path, has_key_usage=False)
        app, inbox = connected(f"?ca={own.ca_path}", scheme="smtps", tls=own.context)
        queue(app)
        assert send(app) == 1
        assert len(inbox.mails) == 1

    def test_an_untrusted_certificate_is_rejected(
        self, connected: Connected, authority: Authority
    ) -> None:
        app, inbox = connected(starttls=authority.context)
        queue(app)
        assert send(app) == 0
        assert inbox.mails == []
        assert only_row(app).error == "the certificate of the mail server is not trusted"
        assert only_row(app).due_at is not None

    def test_a_certificate_for_another_name_is_rejected(
        self, outbox: Flask, connected: Connected, authority: Authority
    ) -> None:
        app, _ = connected(f"?ca={authority.ca_path}", starttls=authority.context)
        port = app.config["SETTINGS"].mail_url.port
        server = mail_server(f"smtp://localhost:{port}?ca={authority.ca_path}")
        with second_app(outbox, mail_url=server) as other:
            queue(other)
            assert send(other) == 0
            assert "certificate" in (only_row(other).error or "")

    def test_starttls_can_be_turned_off(self, connected: Connected, authority: Authority) -> None:
        app, inbox = connected("?starttls=never", starttls=authority.context)
        queue(app)
        assert send(app) == 1
        assert inbox.encrypted == [False]

    def test_starttls_can_be_required(self, connected: Connected) -> None:
        app, inbox = connected("?starttls=required")
        queue(app)
        assert send(app) == 0
        assert (inbox.mails, inbox.senders) == ([], [])
        assert only_row(app).error == "the mail server does not offer STARTTLS"

    def test_smtps_is_encrypted_from_the_start(
        self, connected: Connected, authority: Authority
    ) -> None:
        app, inbox = connected(
            f"?ca={authority.ca_path}", QUOTED, "smtps", tls=authority.context, auth=True
        )
        queue(app)
        assert send(app) == 1
        assert (len(inbox.mails), inbox.logged_in) == (1, [True])

    def test_smtps_checks_the_certificate(self, connected: Connected, authority: Authority) -> None:
        app, _ = connected(scheme="smtps", tls=authority.context)
        queue(app)
        assert send(app) == 0
        assert only_row(app).error == "the certificate of the mail server is not trusted"

    def test_smtps_at_a_port_without_tls(self, connected: Connected) -> None:
        app, inbox = connected(scheme="smtps")
        queue(app)
        assert send(app) == 0
        assert inbox.mails == []
        assert only_row(app).error == "no encrypted connection with the mail server"


class TestLoggingIn:
    def test_with_starttls(self, connected: Connected, authority: Authority) -> None:
        options = f"?ca={authority.ca_path}"
        app, inbox = connected(options, QUOTED, starttls=authority.context, auth=True)
        queue(app)
        assert send(app) == 1
        assert (inbox.encrypted, inbox.logged_in) == ([True], [True])

    def test_a_wrong_password_is_reported_and_the_mail_waits(
        self, connected: Connected, authority: Authority, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        options = f"?ca={authority.ca_path}"
        app, _ = connected(options, "canopy:hunter2", starttls=authority.context, auth=True)
        queue(app)
        assert send(app) == 0
        row = only_row(app)
        assert row.error == "the mail server refused the user and password (535)"
        assert row.due_at is not None
        assert "hunter2" not in caplog.text

    def test_no_password_in_clear_text_except_on_loopback(self, connected: Connected) -> None:
        app, inbox = connected("", QUOTED, auth=True, auth_in_the_clear=True)
        queue(app)
        assert send(app) == 1
        assert inbox.logged_in == [True]
        server = mail_server(f"smtp://{QUOTED}@mail.example.org")
        assert server is not None
        assert server.starttls == "required"

    def test_a_server_without_auth(self, connected: Connected) -> None:
        app, _ = connected("", QUOTED)
        queue(app)
        assert send(app) == 0
        assert only_row(app).error == "the mail server does not accept a user and password"


def test_checking_the_login_sends_nothing(connected: Connected, authority: Authority) -> None:
    options = f"?ca={authority.ca_path}"
    app, inbox = connected(options, QUOTED, starttls=authority.context, auth=True)
    assert mail_server_problem(app.config["SETTINGS"], within=5) is None
    assert (inbox.senders, inbox.connections) == ([], 1)


def test_checking_the_login_reports_the_reply(connected: Connected, authority: Authority) -> None:
    options = f"?ca={authority.ca_path}"
    app, _ = connected(options, f"canopy:not{PASSWORD[:4]}", starttls=authority.context, auth=True)
    error = mail_server_problem(app.config["SETTINGS"], within=5)
    assert error is not None
    assert "535" in error.reason
    assert "invalid" in error.reply
