"""Receivers that hang, drip, flood, close and talk nonsense: each attempt ends in time, and says
why."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from app.outbound import Egress, EgressError, Timing
from app.policy.deliveries import ATTEMPT_SECONDS, FailureReason
from tests.outbound.conftest import MakeEgress, MakeReceiver
from tests.outbound.receivers import (
    Answering,
    Authority,
    Exchange,
    Listener,
    Receiver,
    answering,
    closing_at_once,
    dripping,
    head,
    repeating,
    saying,
)
from tests.ports import free_port

SECONDS = 0.5
GIVEN_UP = 30.0  # seconds; who waits longer for what never comes has not given it up
# On a busy machine what comes before may be slow, too. Then the attempt is made again.
STAGES = (
    FailureReason.SLOW_NAME,
    FailureReason.SLOW_CONNECT,
    FailureReason.SLOW_TLS,
    FailureReason.SLOW_RESPONSE,
)
_ALL = (ip_network("0.0.0.0/0"),)
OK = head(200, {"Content-Length": "0"})

ANSWERS: dict[str, tuple[Answering, FailureReason]] = {
    "no answer": (answering(delay=4 * GIVEN_UP), FailureReason.SLOW_RESPONSE),
    "a status that drips": (dripping(b"", OK, 0.1), FailureReason.SLOW_RESPONSE),
    "interim answers without end": (repeating(b"", head(100), 10_000_000), FailureReason.NOT_HTTP),
    "no end of headers": (repeating(OK[:-2], b"X-A: b\r\n", 10_000_000), FailureReason.NOT_HTTP),
    "headers of the size of two answers": (
        saying(OK[:-2] + 9 * (b"X-A: " + b"x" * 16_000 + b"\r\n") + b"\r\n"),
        FailureReason.NOT_HTTP,
    ),
    "a status without end": (
        repeating(b"HTTP/1.1 200 ", b"x" * 9_999, 1_000),
        FailureReason.NOT_HTTP,
    ),
    "the end at once": (closing_at_once(), FailureReason.CLOSED),
    "the end in the headers": (saying(b"HTTP/1.1 200 OK\r\nContent-Le"), FailureReason.CLOSED),
    "the end before the empty line": (saying(OK[:-2]), FailureReason.CLOSED),
    "another protocol": (saying(b"SSH-2.0-OpenSSH_9.2\r\n"), FailureReason.NOT_HTTP),
    "no number": (saying(b"HTTP/1.1 abc OK\r\n\r\n"), FailureReason.NOT_HTTP),
    "zeros": (saying(bytes(99_999)), FailureReason.NOT_HTTP),
}


def _fail(egress: Egress, url: str, reason: FailureReason, seconds: float = SECONDS) -> EgressError:
    """How a post fails: for this reason, and in time."""
    before = STAGES[: STAGES.index(reason)] if reason in STAGES else ()
    if reason not in STAGES:
        seconds = 4 * GIVEN_UP
    begun = time.monotonic()
    with pytest.raises(EgressError) as failed:
        egress.post(url, b"{}", {}, seconds=seconds)
    assert time.monotonic() - begun < GIVEN_UP
    if failed.value.reason in before and seconds < GIVEN_UP / 2:
        return _fail(egress, url, reason, 2 * seconds)
    assert failed.value.reason is reason
    return failed.value


@pytest.mark.parametrize("name", ANSWERS)
def test_invalid_responses(egress: Egress, receiver: Receiver, name: str) -> None:
    receiver.answer, reason = ANSWERS[name]
    failed = _fail(egress, receiver.url(), reason)
    assert str(failed) == reason.value
    assert None not in failed.timing
    assert len(receiver.requests) == 1 or reason is FailureReason.SLOW_RESPONSE


@pytest.mark.parametrize(
    "answer",
    [
        dripping(head(200, {"Content-Length": "99"}), b"x" * 99),
        saying(head(200, {"Content-Length": "99"}) + b"cut"),
        repeating(head(200), b"x" * 100_000, 100),
        repeating(head(200, {"Transfer-Encoding": "chunked"}), b"1\r\nx\r\n", 10_000_000),
        repeating(head(200, {"Transfer-Encoding": "chunked"}) + b"0\r\n", b"A: b\r\n", 10_000_000),
    ],
    ids=["drips", "is cut", "10 MB and no length", "chunks without end", "trailers"],
)
@pytest.mark.usefixtures("impatient")
def test_a_status_counts_whatever_follows(
    egress: Egress, receiver: Receiver, answer: Answering
) -> None:
    receiver.answer = answer
    begun = time.monotonic()
    assert egress.post(receiver.url(), b"{}", {}, seconds=2 * GIVEN_UP).status == 200
    assert time.monotonic() - begun < GIVEN_UP


@pytest.mark.parametrize(
    "begins",
    [
        head(200, {"Content-Length": "10000000000"}),
        head(200, {"Transfer-Encoding": "chunked"}) + b"-1\r\n",  # http.client reads to the end
    ],
)
def test_a_flood_is_not_read(egress: Egress, receiver: Receiver, begins: bytes) -> None:
    sent = 0

    def flood(exchange: Exchange) -> bool:
        nonlocal sent
        exchange.send(begins)
        while True:
            exchange.send(b"x" * 16_384)
            sent += 16_384

    receiver.answer = flood
    assert egress.post(receiver.url(), b"{}", {}).status == 200
    receiver.close()
    assert sent < 16_000_000  # what the system takes for both sides


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_an_attempt_has_five_seconds(egress: Egress, receiver: Receiver) -> None:
    receiver.answer = dripping(b"HTTP/1.1 200 OK\r\nX-A: ", b"x" * 60)
    begun = time.monotonic()
    with pytest.raises(EgressError) as failed:
        egress.post(receiver.url(), b"{}", {})
    assert failed.value.reason is FailureReason.SLOW_RESPONSE
    assert ATTEMPT_SECONDS - 0.1 <= time.monotonic() - begun < GIVEN_UP


def test_a_kept_connection_has_the_same_deadline(egress: Egress, receiver: Receiver) -> None:
    egress.post(receiver.url(), b"{}", {})
    receiver.answer = dripping(b"", OK, 0.1)
    _fail(egress, receiver.url(), FailureReason.SLOW_RESPONSE)
    assert receiver.connections == 1


@pytest.mark.parametrize("every", [60, 0.05])
def test_a_receiver_that_stops_reading_or_reads_slowly(
    egress: Egress, receiver: Receiver, every: float
) -> None:
    def read(connection: socket.socket) -> None:
        with receiver.context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(16_384)
            secured.sendall(OK)
            while secured.recv(16_384):
                listener.pause(every)

    with Listener(read) as listener:
        egress.post(listener.url(), b"", {})
        begun = time.monotonic()
        with pytest.raises(EgressError) as failed:
            egress.post(listener.url(), b"x" * 20_000_000, {}, seconds=SECONDS)
        assert SECONDS - 0.05 < time.monotonic() - begun < GIVEN_UP
        assert listener.connections == 1
    assert failed.value.reason is FailureReason.SLOW_RESPONSE


def test_tls_that_hangs(egress: Egress) -> None:
    with Listener() as listener:
        failed = _fail(egress, listener.url(), FailureReason.SLOW_TLS)
    *before, wait_ms = failed.timing
    assert wait_ms is None
    assert sum(milliseconds or 0 for milliseconds in before) >= SECONDS * 900


def test_tls_that_drips(egress: Egress) -> None:
    def drip(connection: socket.socket) -> None:
        for number in b"\x16\x03\x03\x40\x00" + bytes(9999):
            connection.sendall(bytes([number]))
            listener.pause(0.1)

    with Listener(drip) as listener:
        _fail(egress, listener.url(), FailureReason.SLOW_TLS)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_no_tls(egress: Egress, said: bytes) -> None:
    def say(connection: socket.socket) -> None:
        connection.recv(2000)
        connection.sendall(said)

    with Listener(say) as listener:
        _fail(egress, listener.url(), FailureReason.TLS)


def test_a_receiver_that_requires_a_client_certificate(
    egress: Egress, receiver: Receiver, authority: Authority
) -> None:
    receiver.context.verify_mode = ssl.CERT_REQUIRED
    receiver.context.load_verify_locations(authority.ca_path)
    _fail(egress, receiver.url(), FailureReason.TLS)
    assert receiver.requests == []


@contextlib.contextmanager
def _full_backlog() -> Iterator[int]:
    """A port that takes no connection anymore, and refuses none."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", free_port()))
        listening.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


def test_a_connection_that_hangs(egress: Egress) -> None:
    with _full_backlog() as port:
        failed = _fail(egress, f"https://localhost:{port}/", FailureReason.SLOW_CONNECT)
    assert failed.timing[2:] == (None, None)


def test_an_address_that_hangs_gets_only_its_share_of_the_time(
    make_egress: MakeEgress, make_receiver: MakeReceiver
) -> None:
    with _full_backlog() as port:
        make_receiver(address="127.0.0.2", port=port)
        egress = make_egress(resolve=lambda host: ["127.0.0.1", "127.0.0.2"])
        answer = egress.post(f"https://localhost:{port}/", b"", {}, seconds=5)
    assert answer.timing.connect_ms is not None
    assert answer.timing.connect_ms > 2400


def test_many_addresses_that_hang(make_egress: MakeEgress) -> None:
    with _full_backlog() as port:
        egress = make_egress(resolve=lambda host: ["127.0.0.1"] * 500)
        _fail(egress, f"https://localhost:{port}/", FailureReason.SLOW_CONNECT)


def test_connection_refused(egress: Egress) -> None:
    _fail(egress, f"https://localhost:{free_port()}/", FailureReason.REFUSED)


def test_unreachable_host(make_egress: MakeEgress, receiver: Receiver) -> None:
    egress = make_egress(resolve=lambda host: ["255.255.255.255"], allowed_networks=_ALL)
    _fail(egress, receiver.url(), FailureReason.UNREACHABLE)


def test_a_name_that_hangs(make_egress: MakeEgress, receiver: Receiver) -> None:
    released = threading.Event()

    def hang(host: str) -> list[str]:
        released.wait(4 * GIVEN_UP)
        return ["127.0.0.1"]

    failed = _fail(make_egress(resolve=hang), receiver.url(), FailureReason.SLOW_NAME)
    released.set()
    assert failed.timing.resolve_ms is not None
    assert failed.timing.resolve_ms >= SECONDS * 900
    assert failed.timing[1:] == (None, None, None)


def test_an_unknown_name(make_egress: MakeEgress) -> None:
    def refuse(host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    reason = FailureReason.NO_PUBLIC_ADDRESS
    _fail(make_egress(resolve=refuse), "https://a.test", reason)
    _fail(make_egress(resolve=lambda host: []), "https://a.test", reason)


def test_an_invalid_url(egress: Egress) -> None:
    failed = _fail(egress, "http://localhost/", FailureReason.BAD_URL)
    assert failed.timing == Timing()
