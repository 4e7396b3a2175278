"""Mail servers for tests: a real SMTP server, and raw ones that misbehave."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from tests.outbound import authority
from tests.ports import free_port
from tests.waiting import PATIENCE

USER, PASSWORD = "canopy", "pass word/@:"
QUOTED = "canopy:pass%20word%2F%40%3A"  # as they stand in MAIL_URL


class Inbox:
    """What a server was given, and how it answers: with ``answers["RCPT"]`` instead of 250."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.replies: dict[str, str] = {}
        self.rejected: dict[str, str] = {}  # by recipient
        self.options: list[str] = []  # of MAIL FROM
        self.senders: list[str] = []
        self.recipients: list[str] = []
        self.connections = 0
        self.encrypted: list[bool] = []
        self.logged_in: list[bool] = []
        self.names: list[str] = []  # that clients call themselves
        self.delay = 0.0  # seconds before the answer to a mail
        self.begun = threading.Event()  # somebody waits for it
        self.hang_up: Callable[[], None] = lambda: None  # close all connections

    async def handle_EHLO(
        self, server: Any, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        self.names.append(hostname)
        return responses

    async def handle_MAIL(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if "MAIL" in self.replies:
            return self.replies["MAIL"]
        envelope.mail_from = address
        self.senders.append(address)
        self.options += options
        self.encrypted.append(session.ssl is not None)
        self.logged_in.append(session.authenticated is True)
        return "250 OK"

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        reply = self.rejected.get(address) or self.replies.get("RCPT", "250 OK")
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.begun.set()
        end = time.monotonic() + self.delay
        while self.delay and time.monotonic() < end:
            await asyncio.sleep(0.05)
        if "DATA" in self.replies:
            return self.replies["DATA"]
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        self.recipients += envelope.rcpt_tos
        return "250 OK"

    def to(self, address: str) -> list[EmailMessage]:
        """The mails to one address, by the header To."""
        return [mail for mail in self.mails if mail["To"] == address]


class _Controller(Controller):
    """A controller that also closes its connections when it stops."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.made: list[Any] = []

    def factory(self) -> Any:
        self.handler.connections += 1
        self.made.append(super().factory())
        return self.made[-1]

    def stop(self, no_assert: bool = False) -> None:
        asyncio.run_coroutine_threadsafe(self._end_connections(), self.loop).result(PATIENCE)
        super().stop(no_assert)

    def hang_up(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close_connections(), self.loop).result(PATIENCE)

    async def _end_connections(self) -> None:
        for smtp in self.made:
            if smtp.transport is not None:
                with suppress(AttributeError):  # asyncio's, once TLS has ended
                    smtp.transport.abort()
        await asyncio.sleep(0.01)

    async def _close_connections(self) -> None:
        for smtp in self.made:
            if smtp.transport is not None:
                smtp.transport.close()
        await asyncio.sleep(0.01)


def _authenticate(
    server: Any, session: Any, envelope: Any, mechanism: str, data: Any
) -> AuthResult:
    known = isinstance(data, LoginPassword) and data == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=known, handled=False)


@contextmanager
def smtp_server(
    *,
    tls: ssl.SSLContext | None = None,
    starttls: ssl.SSLContext | None = None,
    auth: bool = False,
    auth_in_the_clear: bool = False,
    **options: Any,
) -> Iterator[tuple[Inbox, int]]:
    """An SMTP server on 127.0.0.1. Yields its inbox and its port."""
    inbox, port = Inbox(), free_port()
    if auth:
        asks_for_tls = tls is None and not auth_in_the_clear
        options |= {"authenticator": _authenticate, "auth_require_tls": asks_for_tls}
        options["auth_required"] = asks_for_tls
    controller = _Controller(
        inbox,
        hostname="127.0.0.1",
        port=port,
        ssl_context=tls,
        tls_context=starttls,
        ready_timeout=PATIENCE,
        **options,
    )
    controller.start()
    inbox.connections, inbox.hang_up = 0, controller.hang_up
    try:
        yield inbox, port
    finally:
        controller.stop()


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that passes each connection to ``serve``. Yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_accept, args=(listening, serve), daemon=True).start()
        yield listening.getsockname()[1]


def _accept(listening: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_serve, args=(connection, serve), daemon=True).start()


def _serve(connection: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    with connection, suppress(OSError):
        serve(connection)


class Authority(authority.Authority):
    """An untrusted certificate authority, with a certificate for 127.0.0.1."""

    def __init__(self, folder: Path, *, has_key_usage: bool = True) -> None:
        super().__init__(folder, has_key_usage=has_key_usage)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate_for(["127.0.0.1"]))
