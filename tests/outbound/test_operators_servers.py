"""Requests to servers of the operator's settings, and what is read of their responses."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.outbound import Attempt, Egress, EgressError, TooLong
from app.policy.deliveries import FailureReason
from app.values.deadline import Deadline
from tests.outbound.conftest import Authority, MakeEgress, MakeReceiver
from tests.outbound.receivers import (
    Answering,
    Listener,
    PlainReceiver,
    Receiver,
    answering,
    dripping,
    head,
    repeating,
    saying,
)

MOST = 10_000
PATIENT = 60.0  # seconds
GIVEN_UP = 30.0  # seconds; who waits longer for what never comes has not given it up
CHUNKED = head(200, {"Transfer-Encoding": "chunked"})


@pytest.fixture
def operators(make_egress: MakeEgress) -> Egress:
    return make_egress(for_operator=True, allowed_networks=())


@pytest.fixture(params=["http", "https"])
def server(
    request: pytest.FixtureRequest, make_receiver: MakeReceiver, certificate: str
) -> Iterator[Receiver]:
    if request.param == "https":
        yield make_receiver()
        return
    with PlainReceiver(certificate) as made:
        yield made


@pytest.fixture
def plain(certificate: str) -> Iterator[Receiver]:
    with PlainReceiver(certificate) as made:
        yield made


def _read(
    egress: Egress, url: str, seconds: float = PATIENT, connect_seconds: float = PATIENT
) -> bytes:
    attempt = Attempt(Deadline(seconds), connect_seconds)
    with egress.request("GET", url, {}, attempt=attempt) as response:
        return response.read(MOST)


def _failure(egress: Egress, url: str, **seconds: float) -> EgressError:
    begun = time.monotonic()
    with pytest.raises(EgressError) as failed:
        _read(egress, url, **seconds)
    assert time.monotonic() - begun < GIVEN_UP
    return failed.value


def test_what_is_sent_and_read(operators: Egress, server: Receiver) -> None:
    server.answer = answering(201, b'{"a": 1}')
    attempt = Attempt(Deadline(PATIENT))
    own = {"Accept": "application/json", "Content-Type": "text/plain"}
    with operators.request("POST", server.url("/a?b"), own, b"body", attempt=attempt) as response:
        assert (response.status, response.read(MOST)) == (201, b'{"a": 1}')
    assert _read(operators, server.url("/c")) == b'{"a": 1}'
    posted, got = server.requests
    host = f"localhost:{server.port}"
    assert (posted.method, posted.path, posted.body) == ("POST", "/a?b", b"body")
    assert posted.headers == {
        "host": host,
        "accept": "application/json",
        "content-type": "text/plain",
        "content-length": "4",
    }
    assert (got.method, got.path, got.headers) == ("GET", "/c", {"host": host, "accept": "*/*"})
    assert server.connections == 2


@pytest.mark.parametrize(
    ("listening", "host"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("127.0.0.1", "0.0.0.0")],
)
def test_any_address_may_be_called(
    operators: Egress, certificate: str, listening: str, host: str
) -> None:
    with PlainReceiver(certificate, address=listening) as server:
        assert _read(operators, server.url("/", host)) == b"{}"


def test_customers_have_no_plain_http(egress: Egress, plain: Receiver) -> None:
    assert _failure(egress, plain.url()).reason is FailureReason.BAD_URL
    assert plain.connections == 0


def test_a_certificate_of_nobody_known(plain: Receiver, make_receiver: MakeReceiver) -> None:
    egress = Egress(for_operator=True)
    assert _failure(egress, make_receiver().url()).reason is FailureReason.UNTRUSTED
    egress.close()


def test_the_authorities_of_the_system_are_those_of_ssl_cert_file(
    authority: Authority, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca_path))
    egress = Egress(for_operator=True)
    assert _read(egress, receiver.url()) == b"{}"
    egress.close()


def test_a_name_without_an_address(make_egress: MakeEgress) -> None:
    egress = make_egress(for_operator=True, resolve=lambda host: [])
    assert _failure(egress, "http://x.example/").reason is FailureReason.UNREACHABLE


@pytest.mark.parametrize("status", [307, 500])
def test_no_redirect_is_followed(operators: Egress, plain: Receiver, status: int) -> None:
    plain.answer = answering(status, b"", headers={"Location": plain.url("/elsewhere")})
    with operators.request("GET", plain.url(), {}, attempt=Attempt(Deadline(PATIENT))) as response:
        assert response.status == status
    assert len(plain.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        head(200, {"Content-Length": str(MOST)}) + b"x" * MOST,
        head(200) + b"x" * MOST,
        head(200).replace(b"HTTP/1.1", b"HTTP/1.0") + b"x" * MOST,
        CHUNKED + (b"64\r\n" + b"x" * 100 + b"\r\n") * (MOST // 100) + b"0\r\n\r\n",
        head(100) + head(103) + head(200) + b"x" * MOST,
    ],
    ids=["length", "until the end", "HTTP/1.0", "chunks", "after interim responses"],
)
def test_bodies(operators: Egress, plain: Receiver, answer: bytes) -> None:
    plain.answer = saying(answer)
    assert _read(operators, plain.url()) == b"x" * MOST


@pytest.mark.parametrize(
    "answer",
    [
        saying(head(200, {"Content-Length": str(MOST + 1)}) + b"x" * (MOST + 1)),
        repeating(head(200), b"x" * 9_999, 5_000),
        repeating(CHUNKED, b"1\r\nx\r\n", 10_000_000),
        repeating(CHUNKED, b"1;" + b"y" * 9_999 + b"\r\nx\r\n", 10_000_000),
        repeating(CHUNKED + b"0\r\n", b"A: b\r\n", 10_000_000),
        saying(CHUNKED + b"-1\r\n" + b"x" * 1_000_000),
    ],
    ids=[
        *("one byte", "50 MB and no length", "tiny chunks"),
        *("chunks with extensions", "trailers", "a negative chunk"),
    ],
)
def test_a_body_that_is_too_long(operators: Egress, plain: Receiver, answer: Answering) -> None:
    plain.answer = answer
    with pytest.raises(TooLong):
        _read(operators, plain.url())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (head(200, {"Content-Length": "100"}) + b"cut", FailureReason.CLOSED),
        (CHUNKED + b"f\r\ncut", FailureReason.CLOSED),
        (CHUNKED + b"zz\r\n" + b"x" * 100, FailureReason.NOT_HTTP),
        (CHUNKED + b"-1\r\nx", FailureReason.CLOSED),
    ],
    ids=["length", "in a chunk", "no chunk", "a negative chunk"],
)
def test_a_body_that_is_cut(
    operators: Egress, plain: Receiver, answer: bytes, reason: FailureReason
) -> None:
    plain.answer = saying(answer)
    assert _failure(operators, plain.url()).reason is reason


@pytest.mark.parametrize(
    "answer",
    [
        dripping(head(200, {"Content-Length": "99"}), b"x" * 99),
        dripping(CHUNKED, b"0" * 99),
        dripping(b"", head(100) * 9, 0.1),
        answering(delay=4 * GIVEN_UP),
    ],
    ids=["body", "chunk", "interim responses", "nothing"],
)
def test_one_deadline_is_for_everything(
    operators: Egress, plain: Receiver, answer: Answering
) -> None:
    plain.answer = answer
    failure = _failure(operators, plain.url(), seconds=0.3)
    assert failure.is_timeout
    assert failure.reason is FailureReason.SLOW_RESPONSE


def test_connecting_has_a_shorter_one(operators: Egress) -> None:
    with Listener() as listener:  # it never says anything
        failure = _failure(operators, listener.url(), connect_seconds=0.3)
    assert failure.is_timeout
    assert failure.reason is FailureReason.SLOW_TLS


def test_the_connection_is_closed_whatever_becomes_of_the_response(
    operators: Egress, plain: Receiver
) -> None:
    plain.answer = answering(200, b"x" * 1_000)
    attempt = Attempt(Deadline(PATIENT))
    with (
        pytest.raises(RuntimeError),
        operators.request("GET", plain.url(), {}, attempt=attempt) as response,
    ):
        raise RuntimeError
    assert response.connection._socket.fileno() == -1
