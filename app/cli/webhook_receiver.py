"""The receiver of ``bin/canopy webhook listen``: an HTTPS server that checks deliveries."""

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

from app.security.webhook_signing import signature_headers
from app.values.text import printable_text

ADDRESS: Final = "127.0.0.1"
_IDLE_SECONDS: Final = 60.0
_SHUTDOWN_POLL: Final = 0.1  # seconds
_BODY_BYTES: Final = 16 * 1024 * 1024
_MAX_HEADER: Final = 60  # characters to show


class ReceivedDelivery(NamedTuple):
    """A received delivery."""

    event_type: str
    event_id: str
    delivery_id: str
    wrong: tuple[str, ...]  # names of headers whose signature is missing or wrong
    body: bytes


class Receiver:
    """An HTTPS server on this machine that runs while its context is open."""

    def __init__(
        self,
        certificate: Path,
        port: int,
        status: int,
        on_delivery: Callable[[ReceivedDelivery], None],
    ) -> None:
        """
        Args:
            certificate: file with the certificate and its key.
            port: 0 for any free port.
            status: status of all responses.
            on_delivery: called for one delivery at a time, before the response.

        Raises:
            OSError: the port cannot be used.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.secret: str | None = None  # None: the webhook is not created yet
        self._lock = threading.Lock()
        self._on_delivery = on_delivery
        self._server = _Server((ADDRESS, port), _handler_class(self._receive, status), context)
        self.url: Final = f"https://{ADDRESS}:{self._server.server_port}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_SHUTDOWN_POLL,), daemon=True
        )

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _receive(self, headers: Mapping[str, str], body: bytes) -> None:
        names = ("X-Service-Event", "webhook-id", "X-Service-Delivery")
        event_type, event_id, delivery_id = (
            _shorten_header(headers.get(name, "-")) for name in names
        )
        wrong = _wrong_signatures(self.secret or "", headers, body)
        delivery = ReceivedDelivery(event_type, event_id, delivery_id, wrong, body)
        with self._lock:
            self._on_delivery(delivery)


def _wrong_signatures(secret: str, headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
    """Return the names of the headers whose signature is missing or wrong."""
    try:
        moment = datetime.fromtimestamp(int(headers.get("webhook-timestamp", "")), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    expected = signature_headers((secret,), headers.get("webhook-id", ""), moment, body)
    wrong = []
    for name in ("X-Service-Signature", "webhook-signature"):
        values = headers.get(name, "").encode().split()
        if not any(hmac.compare_digest(value, expected[name].encode()) for value in values):
            wrong.append(name)
    return tuple(wrong)


class _Server(ThreadingHTTPServer):
    """A server with a thread for each connection, including its TLS handshake."""

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
        """Ignore broken connections."""


def _handler_class(
    receive: Callable[[Mapping[str, str], bytes], None], response_status: int
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > _BODY_BYTES:
                self.close_connection = True
                self._respond(400)
                return
            receive(self.headers, self.rfile.read(int(length)))  # type: ignore[arg-type]
            self._respond(response_status)

        def _respond(self, status: int) -> None:
            self.send_response(status)
            if status not in (204, 304):  # they have no body
                self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """``on_delivery`` reports deliveries."""

    return Handler


def _shorten_header(header: str) -> str:
    return printable_text(header)[:_MAX_HEADER]
