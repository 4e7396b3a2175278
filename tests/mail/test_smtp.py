"""Sending mails to real servers: rejections, addresses, and servers that fail."""

from __future__ import annotations

import socket
import time
from datetime import timedelta

import pytest
from flask import Flask

from app.mail import smtp
from app.policy.mails import RETRY_AFTER
from app.settings.mail import mail_server
from app.values import clock
from tests.mail.conftest import LINK, RECIPIENT, Connected, only_row, queue, send
from tests.mail.servers import raw_server
from tests.make import link_in, second_app
from tests.ports import free_port


def test_a_mail_arrives_as_it_was_written(connected: Connected) -> None:
    app, inbox = connected()
    queue(app, name="Jörg Förster", link=LINK)
    assert send(app) == 1
    (mail,) = inbox.to(RECIPIENT)
    assert link_in(mail) == LINK
    assert mail["From"] == "Canopy <canopy@localhost>"
    assert mail["To"] == RECIPIENT
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == f"<{only_row(app).id}@[127.0.0.1]>"
    assert abs(mail["Date"].datetime - clock.now()) < timedelta(minutes=1)
    assert (inbox.senders, inbox.recipients) == (["canopy@localhost"], [RECIPIENT])
    assert inbox.names == ["[127.0.0.1]"]
    for form in ("plain", "html"):
        assert "Jörg Förster" in mail.get_body((form,)).get_content()


def test_a_server_without_8bitmime_gets_seven_bits(connected: Connected) -> None:
    app, inbox = connected(decode_data=False)
    seen: list[bytes] = []
    inner = inbox.handle_DATA

    async def keep(server, session, envelope):
        seen.append(envelope.content)
        return await inner(server, session, envelope)

    async def without_eight(server, session, envelope, hostname, responses):
        session.host_name = hostname
        return [line for line in responses if "8BITMIME" not in line]

    inbox.handle_DATA = keep
    inbox.handle_EHLO = without_eight
    queue(app, name="Jörg Förster", link=LINK)
    assert send(app) == 1
    assert seen[0].isascii()
    assert "BODY=8BITMIME" not in inbox.options
    assert "Jörg Förster" in inbox.mails[0].get_body(("plain",)).get_content()
    assert link_in(inbox.mails[0]) == LINK


def test_several_mails_share_a_connection(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smtp, "MAILS_A_CONNECTION", 4)
    app, inbox = connected()
    for number in range(6):
        queue(app, f"nr{number}@example.org")
    assert send(app) == 6
    assert len(inbox.mails) == 6
    assert inbox.connections == 2


def test_a_closed_connection_is_reopened(connected: Connected) -> None:
    app, inbox = connected()
    queue(app)
    real = smtp._is_alive

    def slowly(client):
        inbox.hang_up()
        return real(client)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smtp, "_is_alive", slowly)
        queue(app, "second@example.org")
        assert send(app) == 2
    assert inbox.connections == 2


GIVEN_UP = 30.0  # seconds; who waits longer for what never comes has not given it up


class TestRejections:
    def test_permanent(self, connected: Connected) -> None:
        app, inbox = connected()
        for recipient, replies, error in (
            ("a@x.org", {"RCPT": "550 No such user"}, "refused the recipient (550)"),
            ("b@x.org", {"DATA": "554 5.7.1 Spam"}, "refused the email (554)"),
        ):
            inbox.replies = replies
            queue(app, recipient)
            assert send(app) == 0
            row = only_row(app, recipient)
            assert (row.due_at, row.sealed, row.error) == (None, None, f"the mail server {error}")

    @pytest.mark.parametrize(
        ("replies", "error"),
        [
            ({"RCPT": "450 4.2.0 Greylisted"}, "the mail server refused the recipient (450)"),
            ({"DATA": "451 4.3.0 Later"}, "the mail server refused the email (451)"),
            ({"MAIL": "550 5.7.1 Not you"}, "the mail server refused the sender (550)"),
        ],
    )
    def test_temporary(
        self, connected: Connected, advance_clock, replies: dict[str, str], error: str
    ) -> None:
        app, inbox = connected()
        inbox.replies = replies
        queue(app)
        assert send(app) == 0
        row = only_row(app)
        assert (row.attempts, row.error) == (1, error)
        assert row.due_at is not None
        inbox.replies = {}
        advance_clock(RETRY_AFTER[0])
        assert send(app) == 1
        assert len(inbox.mails) == 1

    def test_of_one_recipient_does_not_block_others(self, connected: Connected) -> None:
        app, inbox = connected()
        inbox.rejected = {"a@example.org": "550 No", "c@example.org": "450 Later"}
        for name in "abcd":
            queue(app, f"{name}@example.org")
        assert send(app) == 2
        assert inbox.recipients == ["b@example.org", "d@example.org"]
        assert inbox.connections == 1

    def test_the_reply_is_not_stored(
        self, connected: Connected, caplog: pytest.LogCaptureFixture
    ) -> None:
        app, inbox = connected()
        inbox.replies = {"RCPT": f"550 <{RECIPIENT}> is on vacation"}
        queue(app)
        send(app)
        assert "vacation" not in caplog.text + (only_row(app).error or "")


class TestAddresses:
    RECIPIENT = "jörg@exämple.org"

    def test_non_ascii_with_smtputf8(self, connected: Connected) -> None:
        app, inbox = connected(enable_SMTPUTF8=True)
        queue(app, self.RECIPIENT)
        assert send(app) == 1
        assert inbox.recipients == ["jörg@xn--exmple-cua.org"]
        assert inbox.mails[0]["To"] == "jörg@xn--exmple-cua.org"
        assert "SMTPUTF8" in inbox.options

    def test_non_ascii_without_smtputf8(self, connected: Connected) -> None:
        app, _ = connected(enable_SMTPUTF8=False)
        queue(app, self.RECIPIENT)
        assert send(app) == 0
        row = only_row(app, self.RECIPIENT)
        assert row.due_at is None
        assert row.error == "the mail server does not accept addresses with non-ASCII characters"

    def test_unusual_but_valid(self, connected: Connected) -> None:
        app, inbox = connected()
        addresses = ["o'neil+tag=1@example.org", '"a b"@example.org', '"a,b"@example.org']
        for address in addresses:
            queue(app, address)
        assert send(app) == 3
        assert inbox.recipients == addresses
        assert [len(mail["To"].addresses) for mail in inbox.mails] == [1, 1, 1]

    def test_invalid(self, connected: Connected) -> None:
        app, _ = connected()
        for address in ("jo", "@example.org", "jö <x@example.org", "jo@a..b"):
            queue(app, address)
            assert send(app) == 0
            assert only_row(app, address).error == "the address cannot be written in an email"


class TestUnavailableServer:
    def _failed(self, outbox: Flask, url: str) -> str:
        with second_app(outbox, mail_url=mail_server(url)) as app:
            queue(app)
            assert send(app) == 0
            row = only_row(app)
            assert row.due_at is not None
            return row.error or ""

    def test_connection_refused(self, outbox: Flask) -> None:
        error = self._failed(outbox, f"smtp://127.0.0.1:{free_port()}")
        assert error == "the mail server cannot be reached"

    def test_unknown_host(self, outbox: Flask) -> None:
        error = self._failed(outbox, "smtp://mail.invalid")
        assert error == "the name of the mail server cannot be resolved"

    def test_a_silent_server(self, outbox: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(smtp, "REPLY_TIMEOUT", 0.3)
        with raw_server(lambda connection: time.sleep(2 * GIVEN_UP)) as port:
            begun = time.monotonic()
            assert self._failed(outbox, f"smtp://127.0.0.1:{port}").endswith("respond in time")
            assert time.monotonic() - begun < GIVEN_UP

    @pytest.mark.parametrize("scheme", ["smtp", "smtps"])
    def test_an_endless_reply(
        self, outbox: Flask, monkeypatch: pytest.MonkeyPatch, scheme: str
    ) -> None:
        monkeypatch.setattr(smtp, "REPLY_TIMEOUT", 0.5)
        monkeypatch.setattr(smtp, "SEND_TIMEOUT", 1.0)
        with raw_server(_drip) as port:
            begun = time.monotonic()
            error = self._failed(outbox, f"{scheme}://127.0.0.1:{port}")
            assert time.monotonic() - begun < GIVEN_UP
        if scheme == "smtp":
            assert error.endswith("respond in time")

    def test_a_server_that_hangs_up(self, outbox: Flask) -> None:
        with raw_server(lambda connection: None) as port:
            error = self._failed(outbox, f"smtp://127.0.0.1:{port}")
        assert error in (
            "the mail server closed the connection",
            "the mail server cannot be reached",
        )

    def test_a_server_that_rejects_connections(self, outbox: Flask) -> None:
        with raw_server(lambda connection: connection.sendall(b"554 Go away\r\n")) as port:
            error = self._failed(outbox, f"smtp://127.0.0.1:{port}")
        assert error == "the mail server refused the connection (554)"

    def test_another_protocol(self, outbox: Flask) -> None:
        with raw_server(lambda connection: connection.sendall(b"\xff" * 9000)) as port:
            assert self._failed(outbox, f"smtp://127.0.0.1:{port}")

    def test_a_slow_server(self, connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(smtp, "REPLY_TIMEOUT", 1.0)
        app, inbox = connected()
        inbox.delay = 1.5
        queue(app)
        assert send(app) == 1
        assert len(inbox.mails) == 1


def _drip(connection: socket.socket) -> None:
    """Send single bytes without ever ending the line."""
    while True:
        connection.sendall(b"2")
        time.sleep(0.1)
