"""Requests, and what is returned of a response."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.outbound import Egress, EgressError, Timing
from app.outbound.client import Receipt
from app.policy.deliveries import FailureReason
from app.policy.egress import HEAD_BYTES
from tests.outbound.conftest import MakeEgress, MakeReceiver
from tests.outbound.receivers import (
    Listener,
    Receiver,
    answering,
    closing_at_once,
    dripping,
    head,
    in_turn,
    saying,
)

BODY = b'{"id":"evt_1"}'
HEADERS = {"Content-Type": "application/json", "User-Agent": "Canopy-Webhooks/1"}


def _post(
    egress: Egress, receiver: Listener, path: str = "/hook", seconds: float = 60.0
) -> Receipt:
    return egress.post(receiver.url(path), BODY, HEADERS, seconds=seconds)


def test_a_post(egress: Egress, receiver: Receiver) -> None:
    assert _post(egress, receiver, "/a/../b?c=%20d").status == 200
    (request,) = receiver.requests
    assert (request.method, request.path, request.body) == ("POST", "/a/../b?c=%20d", BODY)
    assert request.headers == {
        "host": f"localhost:{receiver.port}",
        "accept": "*/*",
        "content-type": "application/json",
        "user-agent": "Canopy-Webhooks/1",
        "content-length": str(len(BODY)),
    }


def test_a_body_of_a_megabyte(egress: Egress, receiver: Receiver) -> None:
    body = bytes(range(256)) * 4096
    egress.post(receiver.url(), body, {}, seconds=60)
    assert receiver.requests[0].body == body


def test_a_header_that_cannot_be_sent(egress: Egress, receiver: Receiver) -> None:
    for headers in ({"X-A": "b\r\nX-C: d"}, {"X-A": "b\n"}, {"X-A\r": "b"}, {"X-A": "☃"}):
        with pytest.raises(ValueError, match=r"header|encode"):
            egress.post(receiver.url(), BODY, headers)
    assert receiver.connections == 0


def test_timing_of_a_new_connection_and_of_a_kept_one(egress: Egress, receiver: Receiver) -> None:
    receiver.answer = answering(delay=0.05)
    first, second = (_post(egress, receiver).timing for _ in range(2))
    assert None not in first
    assert first.wait_ms is not None
    assert 50 <= first.wait_ms < 1000
    assert second == Timing(None, None, None, second.wait_ms)
    assert receiver.connections == 1


def test_any_status_is_a_response(egress: Egress, receiver: Receiver) -> None:
    elsewhere = {"Location": receiver.url("/elsewhere"), "Retry-After": "0"}
    for status in (204, 300, 301, 302, 307, 308, 404, 599):
        receiver.answer = answering(status, b"", headers=elsewhere)
        assert _post(egress, receiver).status == status
    assert {request.path for request in receiver.requests} == {"/hook"}


def test_interim_responses_are_skipped(egress: Egress, receiver: Receiver) -> None:
    interim = head(100) + head(103, {"Link": "</x>"}) + head(102)
    receiver.answer = saying(interim + head(200, {"Content-Length": "0"}))
    assert _post(egress, receiver).status == 200


@pytest.mark.parametrize(
    "answer",
    [
        head(200, {"Transfer-Encoding": "chunked"}) + b"5\r\nhello\r\n0\r\n\r\n",
        head(200, {"X-A": "x" * 40_000, "Content-Length": "60000"}) + b"x" * 60_000,
        head(204),
    ],
    ids=["chunked", "long head and long body", "no body"],
)
def test_a_connection_is_kept(egress: Egress, receiver: Receiver, answer: bytes) -> None:
    receiver.answer = saying(answer, stays_open=True)
    assert {_post(egress, receiver).status for _ in range(3)} <= {200, 204}
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        head(200, {"Content-Length": "3", "Connection": "close"}) + b"abc",
        head(200) + b"until the end",
        head(200, {"Content-Length": "65537"}) + b"x" * 65_537,
        head(200, {"Transfer-Encoding": "chunked"}) + b"zz\r\n",
        head(200, {"Content-Length": "100"}) + b"cut",
        head(101, {"Upgrade": "websocket"}) + b"frame",
    ],
    ids=["close", "until the end", "too long", "bad chunk", "cut", "upgrade"],
)
def test_a_connection_is_not_kept(egress: Egress, receiver: Receiver, answer: bytes) -> None:
    receiver.answer = in_turn(saying(answer), answering())
    assert _post(egress, receiver).status in (101, 200)
    assert not egress._pool._idle
    assert _post(egress, receiver).status == 200
    assert [request.connection for request in receiver.requests] == [1, 2]


def test_a_request_on_a_kept_connection_that_closes_is_repeated(
    egress: Egress, receiver: Receiver
) -> None:
    receiver.answer = in_turn(answering(), closing_at_once(), answering(202))
    assert _post(egress, receiver).status == 200
    answer = _post(egress, receiver)
    assert answer.status == 202
    assert answer.timing.connect_ms is not None
    assert [request.connection for request in receiver.requests] == [1, 1, 2]
    assert receiver.requests[1][:4] == receiver.requests[2][:4]


def test_it_is_repeated_only_once(egress: Egress, receiver: Receiver) -> None:
    receiver.answer = in_turn(answering(), closing_at_once())
    _post(egress, receiver)
    with pytest.raises(EgressError) as failed:
        _post(egress, receiver)
    assert failed.value.reason is FailureReason.CLOSED
    assert len(receiver.requests) == 3


def test_it_is_not_repeated_after_a_partial_response(egress: Egress, receiver: Receiver) -> None:
    receiver.answer = in_turn(answering(), saying(b"HTTP/1.1 2"), answering())
    _post(egress, receiver)
    with pytest.raises(EgressError) as failed:
        _post(egress, receiver)
    assert failed.value.reason is FailureReason.CLOSED
    assert len(receiver.requests) == 2


def test_a_request_on_a_new_connection_that_closes_is_not_repeated(
    egress: Egress, receiver: Receiver
) -> None:
    receiver.answer = in_turn(closing_at_once(), answering())
    with pytest.raises(EgressError):
        _post(egress, receiver)
    assert len(receiver.requests) == 1


@pytest.mark.usefixtures("impatient")
def test_a_body_that_drips_is_no_failure(egress: Egress, receiver: Receiver) -> None:
    receiver.answer = dripping(head(200, {"Content-Length": "99"}), b"x" * 99)
    began = time.monotonic()
    answer = _post(egress, receiver, seconds=60)
    took = time.monotonic() - began
    assert answer.status == 200
    assert answer.timing.wait_ms is not None
    assert answer.timing.wait_ms < 1000 * took - 240  # the body had a quarter of a second
    assert took < 30


def test_a_response_before_the_end_of_the_request_counts(
    egress: Egress, receiver: Receiver
) -> None:
    def refuse(connection: socket.socket) -> None:
        with receiver.context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(1000)
            secured.sendall(head(413, {"Content-Length": "0"}))
            receiver.pause(0.3)

    with Listener(refuse) as listener:
        answer = egress.post(listener.url(), b"x" * 20_000_000, {}, seconds=60)
    assert answer.status == 413


def test_the_header_host(egress: Egress, make_egress: MakeEgress, receiver: Receiver) -> None:
    for host in ("Hook.Example", "hook.example.", "127.0.0.1"):
        egress.post(receiver.url("/", host), b"", {}, seconds=60)
    port = receiver.port
    hosts = [request.host for request in receiver.requests]
    assert hosts == [f"hook.example:{port}", f"hook.example:{port}", f"127.0.0.1:{port}"]
    assert receiver.protocols == ["http/1.1", "http/1.1"]
    assert receiver.names == ["hook.example", None]  # the second one went over the first's


def test_ipv6(egress: Egress, make_receiver: MakeReceiver) -> None:
    receiver = make_receiver(address="::1")
    assert egress.post(receiver.url("/", "[0::1]"), b"", {}, seconds=60).status == 200
    assert receiver.requests[0].host == f"[::1]:{receiver.port}"


def test_the_next_address_is_tried_when_one_refuses(
    make_egress: MakeEgress, receiver: Receiver
) -> None:
    egress = make_egress(resolve=lambda host: ["::1", "127.0.0.3", "127.0.0.1"])
    assert _post(egress, receiver).status == 200


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Listener]:
    """A proxy in the environment, which nobody may come to, and a password."""
    with Listener() as listener:
        for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
        netrc = tmp_path / "netrc"
        netrc.write_text("machine localhost login a password b\n")
        monkeypatch.setenv("NETRC", str(netrc))
        yield listener


def test_the_environment_is_ignored(egress: Egress, receiver: Receiver, proxy: Listener) -> None:
    assert _post(egress, receiver).status == 200
    assert proxy.connections == 0
    assert "authorization" not in receiver.requests[0].headers


def test_threads_share_an_egress(egress: Egress, receiver: Receiver) -> None:
    def post(number: int) -> int:
        return egress.post(receiver.url(f"/{number}"), str(number).encode(), {}).status

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(post, range(100))) == {200}
    came = {(request.path, request.body) for request in receiver.requests}
    assert came == {(f"/{number}", str(number).encode()) for number in range(100)}
    assert len(receiver.requests) == 100


def test_a_head_of_the_maximum_size(egress: Egress, receiver: Receiver) -> None:
    entry = b"X-A: " + b"x" * 30_000 + b"\r\n"
    receiver.answer = saying(head(200, {"Content-Length": "0"})[:-2] + entry * 2 + b"\r\n")
    assert 2 * len(entry) < HEAD_BYTES
    assert egress.post(receiver.url(), b"{}", {}).status == 200
