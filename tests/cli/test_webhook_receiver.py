"""The receiver of ``bin/canopy webhook listen``, without a service."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.cli.certificates import ensure_certificates
from app.cli.webhook_receiver import ReceivedDelivery, Receiver
from app.security.webhook_signing import delivery_headers, new_secret, signature_headers

BODY = b'{"type":"project.created"}'
BOTH = ("X-Service-Signature", "webhook-signature")
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Caller:
    """Sends requests to the receiver, and has what it reported."""

    def __init__(self, folder: Path, status: int) -> None:
        self.certificates = ensure_certificates(folder)
        self.deliveries: list[ReceivedDelivery] = []
        self.receiver = Receiver(self.certificates.receiver, 0, status, self.deliveries.append)
        self.receiver.secret = new_secret()

    @property
    def port(self) -> int:
        return int(self.receiver.url.rstrip("/").rpartition(":")[2])

    def connection(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self.certificates.authority))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=60)

    def signed(self, secret: str, body: bytes = BODY, **headers: str) -> dict[str, str]:
        named = delivery_headers("evt_1", "project.created", "dlv_1", MOMENT)
        return named | signature_headers((secret,), "evt_1", MOMENT, body) | headers

    def post(self, headers: dict[str, str], body: bytes = BODY) -> tuple[int, ReceivedDelivery]:
        connection = self.connection()
        connection.request("POST", "/", body, headers)
        status = connection.getresponse().status
        connection.close()
        return status, self.deliveries[-1]


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    made = Caller(tmp_path, 202)
    with made.receiver:
        yield made


def test_right_signatures(caller: Caller) -> None:
    status, delivery = caller.post(caller.signed(caller.receiver.secret))
    assert status == 202
    assert delivery == ReceivedDelivery("project.created", "evt_1", "dlv_1", (), BODY)


def test_one_of_several_signatures_is_enough(caller: Caller) -> None:
    right, other = caller.signed(caller.receiver.secret), caller.signed(new_secret())
    both = f"{other['webhook-signature']} {right['webhook-signature']}"
    assert caller.post(right | {"webhook-signature": both})[1].wrong == ()


def test_wrong_signatures(caller: Caller) -> None:
    right = caller.signed(caller.receiver.secret)
    assert caller.post(caller.signed(new_secret()))[1].wrong == BOTH
    assert caller.post(right, BODY + b" ")[1].wrong == BOTH
    assert caller.post({})[1].wrong == BOTH
    assert caller.post(right | {"X-Service-Signature": "sha256=é"})[1].wrong == BOTH[:1]
    for header in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        for value in ("1", "x", "9" * 400):
            assert caller.post(right | {header: value})[1].wrong == BOTH[1:]


def test_control_characters_are_replaced(caller: Caller) -> None:
    _, delivery = caller.post({"X-Service-Event": "\x1b[2Jcleared\x9b" + "x" * 500})
    assert delivery.event_type.startswith("?[2Jcleared?x")
    assert len(delivery.event_type) == 60


def test_connections_are_kept(caller: Caller) -> None:
    connection = caller.connection()
    headers = caller.signed(caller.receiver.secret)
    for _ in range(3):
        connection.request("POST", "/", BODY, headers)
        assert connection.getresponse().read() == b""
    connection.close()
    assert len(caller.deliveries) == 3


def test_a_connection_that_hangs_does_not_delay_others(caller: Caller) -> None:
    with socket.create_connection(("127.0.0.1", caller.port)):
        assert caller.post(caller.signed(caller.receiver.secret))[0] == 202


def test_a_body_without_a_valid_length_is_rejected(caller: Caller) -> None:
    for length in ("many", "-1", "99999999999"):
        connection = caller.connection()
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status == 400
        connection.close()
    assert caller.deliveries == []
