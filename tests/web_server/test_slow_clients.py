"""Clients that are slow, or do nothing, hold neither a thread nor the server."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.web_server.servers import ASKED, SmallServer, is_closed, receive, small_server

LARGE = 8_000_000

# The service with shorter patience, and an answer that no buffer of a socket takes whole.
APPLICATION = f"""
from app.web_server import gunicorn_worker
gunicorn_worker.REQUEST_TIMEOUT, gunicorn_worker.SEND_TIMEOUT = 1.0, 1

def app(environ, start_response):
    body = b"x" * ({LARGE} if environ["PATH_INFO"] == "/large" else 1)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture(scope="module")
def server(scratch: Path) -> Iterator[SmallServer]:
    """One with two threads."""
    with small_server(scratch / "slow", APPLICATION) as running:
        yield running


@pytest.mark.slow
def test_connections_that_say_nothing_hold_nobody(server: SmallServer) -> None:
    with ExitStack() as silent:
        for _ in range(30):
            silent.enter_context(server.connect())
        assert server.answered_within() < 2


def test_connections_that_are_not_closed_hold_nobody(server: SmallServer) -> None:
    with ExitStack() as open_:
        for _ in range(30):
            client = open_.enter_context(server.connect())
            client.sendall(ASKED)
        assert server.answered_within() < 2
        assert client.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_a_connection_that_is_not_closed_is_closed_for_it(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(ASKED)
        received = b""
        while part := client.recv(4096):  # its end comes at once, for the server's side is shut
            received += part
        assert received.endswith(b"\r\n\r\nx")
        time.sleep(4)
        client.sendall(b"x")  # nobody takes it, which the client is told of after the fact
        time.sleep(0.2)
        with pytest.raises(ConnectionError):
            client.sendall(b"x")


@pytest.mark.slow
def test_clients_that_do_not_read_hold_a_thread_for_a_while_only(server: SmallServer) -> None:
    with ExitStack() as deaf:
        for _ in range(4):
            client = deaf.enter_context(server.connect())
            client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        assert server.answered_within() < 8


def test_who_reads_gets_all_of_a_large_answer(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        received = 0
        while part := client.recv(65536):
            received += len(part)
    assert received > LARGE


BEGUN = {
    "a head": b"GET / HTTP/1.1\r\nHost: a\r\n",
    "a body": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234",
    "chunks": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1234",
}


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN.keys())
def test_the_rest_of_a_request_is_not_waited_for_for_ever(
    server: SmallServer, begun: bytes
) -> None:
    with server.connect() as client:
        client.sendall(begun)
        began = time.monotonic()
        answer = receive(client)
        assert answer.status == 408
        assert answer.headers["connection"] == "close"
        assert is_closed(client)
    assert 0.9 < time.monotonic() - began < 5


def test_a_client_that_goes_on_slowly_is_not_waited_for_either(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(BEGUN["a head"])
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 10:
                client.sendall(b"A: b\r\n")
                time.sleep(0.1)
        assert time.monotonic() - began < 6


def test_a_connection_that_says_nothing_is_closed_without_a_word(server: SmallServer) -> None:
    with server.connect() as client:
        assert client.recv(1) == b""
