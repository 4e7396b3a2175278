"""Clients that are slow, or do nothing, hold neither a thread nor the server."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from config import ROOT
from tests.running.instances import free_port

ASKED = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
LARGE = 8_000_000

# The service with shorter patience, and an answer that no buffer of a socket takes whole.
APPLICATION = f"""
from app.running import gunicorn_worker
gunicorn_worker.REQUEST_TIMEOUT, gunicorn_worker.SEND_TIMEOUT = 1.0, 1

def app(environ, start_response):
    body = b"x" * ({LARGE} if environ["PATH_INFO"] == "/large" else 1)
    if environ.get("CONTENT_LENGTH"):
        body = b"%d" % len(environ["wsgi.input"].read())
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""

Connect = Callable[[], socket.socket]


@pytest.fixture(scope="module")
def connect(scratch: Path) -> Iterator[Connect]:
    """Opens connections to a server with one process and two threads."""
    folder = scratch / "slow"
    folder.mkdir()
    (folder / "impatient.py").write_text(APPLICATION)
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "--config=/dev/null", "--threads=2", "--workers=1"),
        *("--worker-class=app.running.gunicorn_worker.EnvelopeWorker", "--no-control-socket"),
        *(f"--bind=127.0.0.1:{port}", f"--pythonpath={ROOT},{folder}", "impatient:app"),
    ]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=os.environ, stdout=log, stderr=log)

    def opened() -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout=10)

    try:
        while server.poll() is None:
            with contextlib.suppress(ConnectionRefusedError), opened():
                break
        yield opened
    finally:
        server.terminate()
        server.wait(20)


def answered_within(connect: Connect) -> float:
    """Seconds until a client that behaves is answered."""
    began = time.monotonic()
    with connect() as client:
        client.sendall(ASKED)
        assert client.recv(100).startswith(b"HTTP/1.1 200")
    return time.monotonic() - began


@pytest.mark.slow
def test_connections_that_say_nothing_hold_nobody(connect: Connect) -> None:
    with ExitStack() as silent:
        for _ in range(30):
            silent.enter_context(connect())
        assert answered_within(connect) < 2


def test_connections_that_are_not_closed_hold_nobody(connect: Connect) -> None:
    with ExitStack() as open_:
        for _ in range(30):
            client = open_.enter_context(connect())
            client.sendall(ASKED)
        assert answered_within(connect) < 2
        assert client.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_a_connection_that_is_not_closed_is_closed_for_it(connect: Connect) -> None:
    with connect() as client:
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
def test_clients_that_do_not_read_hold_a_thread_for_a_while_only(connect: Connect) -> None:
    with ExitStack() as deaf:
        for _ in range(4):
            client = deaf.enter_context(connect())
            client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        assert answered_within(connect) < 8


def test_who_reads_gets_all_of_a_large_answer(connect: Connect) -> None:
    with connect() as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        received = 0
        while part := client.recv(65536):
            received += len(part)
    assert received > LARGE


@pytest.mark.slow
def test_the_rest_of_a_request_is_not_waited_for_for_ever(connect: Connect) -> None:
    with connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234")
        began, answer = time.monotonic(), b""
        while not answer.endswith(b"\r\n\r\n4"):
            part = client.recv(4096)
            assert part, answer
            answer += part
    assert 0.9 < time.monotonic() - began < 5
