"""The receiver of ``bin/canopy webhook listen``: an HTTPS server that looks at what comes."""

from __future__ import annotations

import hmac
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.deliveries.signing import signatures

ADDRESS: Final = "127.0.0.1"
_IDLE_SECONDS: Final = 60.0
_END_SEEN_WITHIN: Final = 0.1  # seconds
_BODY_BYTES: Final = 16 * 1024 * 1024
_SHOWN: Final = 60  # characters of what others may have written


class Receipt(NamedTuple):
    """A delivery that came."""

    event_type: str
    event_id: str
    delivery_id: str
    wrong: tuple[str, ...]  # names of headers whose signature is not right
    body: bytes


class Listening:
    """An HTTPS server on this machine, for as long as its context lasts."""

    def __init__(
        self, certificate: Path, port: int, answer: int, tell: Callable[[Receipt], None]
    ) -> None:
        """
        Args:
            certificate: a file with the certificate and its key.
            port: 0 for any that is free.
            answer: the status that every delivery gets.
            tell: gets what came, one at a time; before it is answered.

        Raises:
            OSError: the port cannot be used.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.secret: str | None = None  # of the webhook, as soon as there is one
        self._lock = threading.Lock()
        self._tell = tell
        self._server = _Server((ADDRESS, port), _handler(self.take, answer), context)
        self.url: Final = f"https://{ADDRESS}:{self._server.server_port}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_END_SEEN_WITHIN,), daemon=True
        )

    def __enter__(self) -> Listening:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, headers: Mapping[str, str], body: bytes) -> None:
        names = ("X-Service-Event", "webhook-id", "X-Service-Delivery")
        event_type, event_id, delivery_id = (_shown(headers.get(name, "-")) for name in names)
        wrong = wrong_signatures(self.secret or "", headers, body)
        receipt = Receipt(event_type, event_id, delivery_id, wrong, body)
        with self._lock:
            self._tell(receipt)


def wrong_signatures(secret: str, headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
    """The names of the headers whose signature of a body is missing or not right."""
    try:
        moment = datetime.fromtimestamp(int(headers.get("webhook-timestamp", "")), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    right = signatures((secret,), headers.get("webhook-id", ""), moment, body)
    wrong = []
    for name in ("X-Service-Signature", "webhook-signature"):
        given = headers.get(name, "").encode().split()
        if not any(hmac.compare_digest(each, right[name].encode()) for each in given):
            wrong.append(name)
    return tuple(wrong)


class _Server(ThreadingHTTPServer):
    """Each connection has a thread, also for its TLS handshake: one that hangs holds nobody up."""

    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext
    ) -> None:
        self._tls = tls
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.settimeout(_IDLE_SECONDS)
        secured = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return secured, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off is no news."""


def _handler(
    take: Callable[[Mapping[str, str], bytes], None], answer: int
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > _BODY_BYTES:
                self.close_connection = True
                self._answer(400)
                return
            take(self.headers, self.rfile.read(int(length)))  # type: ignore[arg-type]
            self._answer(answer)

        def _answer(self, status: int) -> None:
            self.send_response(status)
            if status not in (204, 304):  # which have no body at all
                self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """What comes is told elsewhere."""

    return Handler


def _shown(header: str) -> str:
    return printable(header)[:_SHOWN]


def printable(text: str) -> str:
    """A text as a terminal can show it without obeying it, whoever sent it."""
    return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)
