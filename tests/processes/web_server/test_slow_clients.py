"""Clients that are slow, or do nothing, hold neither a thread nor the server."""

from __future__ import annotations

import contextlib
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes.web_server.servers import ASKED, SmallServer, is_closed, receive, small_server
from tests.waiting import PATIENCE, wait_for

LARGE = 8_000_000

# Answers that no buffer of a socket takes whole.
APPLICATION = f"""
response_buffer.MAX_HELD, response_buffer.MAX_UNREAD = 2 * {LARGE}, 10 * {LARGE}

def app(environ, start_response):
    if environ["PATH_INFO"] == "/endless":
        start_response("200 OK", [])
        return (b"x" * {LARGE} for _ in range(10))
    if environ["PATH_INFO"] == "/failing":
        return failing(start_response)
    body = b"x" * ({LARGE} if environ["PATH_INFO"] == "/large" else 1)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]

def failing(start_response):
    start_response("200 OK", [])
    yield b"x" * {LARGE}
    raise ValueError("in the middle")
"""

IMPATIENT = f"""
{APPLICATION}
arriving_requests.REQUEST_TIMEOUT = 1.0
response_buffer.SEND_TIMEOUT = 0.5
"""

ASKED_FOR_LARGE = b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
LAST_LARGE = ASKED_FOR_LARGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


@pytest.fixture(scope="module")
def server(scratch: Path) -> Iterator[SmallServer]:
    """One with two threads."""
    with small_server(scratch / "slow", APPLICATION) as running:
        yield running


@pytest.fixture(scope="module")
def impatient_server(scratch: Path) -> Iterator[SmallServer]:
    """One that does not wait for long."""
    with small_server(scratch / "impatient", IMPATIENT, "--keep-alive=1") as running:
        yield running


def test_connections_that_are_not_closed_hold_nobody(server: SmallServer) -> None:
    with ExitStack() as open_:
        for _ in range(30):
            client = open_.enter_context(server.connect())
            client.sendall(ASKED)
        server.check_answers()
        assert client.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_a_connection_that_is_not_closed_is_closed_for_it(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(ASKED)
        received = b""
        while part := client.recv(4096):  # its end comes at once, for the server's side is shut
            received += part
        assert received.endswith(b"\r\n\r\nx")
        with pytest.raises(ConnectionError):
            _go_on_sending(client, b"x")  # nobody takes it, which it is told of after the fact


def test_clients_that_do_not_read_hold_nobody(server: SmallServer) -> None:
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(_deaf(server)).sendall(ASKED_FOR_LARGE)
        server.check_answers()


@pytest.mark.slow
def test_clients_that_do_not_read_are_closed(impatient_server: SmallServer) -> None:
    assert _is_cut_short(impatient_server, ASKED_FOR_LARGE, LARGE)


def _is_cut_short(server: SmallServer, request: bytes, size: int) -> bool:
    """Whether a client that does not read for 2 seconds gets less; or for longer, where the server
    is slow to notice."""
    for seconds in (2, 15, 45):
        with _deaf(server) as client:
            client.sendall(request)
            time.sleep(seconds)
            if _received(client) < size:
                return True
    return False


@pytest.mark.slow
def test_a_client_that_reads_slowly_gets_all_of_an_answer_and_can_go_on(
    server: SmallServer,
) -> None:
    with server.connect() as client:
        for _ in range(2):
            client.sendall(ASKED_FOR_LARGE)
            time.sleep(0.5)
            assert receive(client).body == b"x" * LARGE
        client.sendall(ASKED)
        assert receive(client).body == b"x"


@pytest.mark.slow
def test_a_request_behind_a_large_answer_is_answered(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(ASKED_FOR_LARGE + ASKED)
        time.sleep(0.2)
        assert receive(client).body == b"x" * LARGE
        assert receive(client).body == b"x"


@pytest.mark.slow
def test_the_oldest_goes_when_too_much_is_not_read(server: SmallServer) -> None:
    with ExitStack() as stack:
        # The system holds some megabytes for each; the rest is far more than MAX_UNREAD.
        clients = [stack.enter_context(_deaf(server)) for _ in range(32)]
        for client in clients:
            client.sendall(LAST_LARGE)
            assert client.recv(1, socket.MSG_PEEK)  # its answer has begun before the next does
        server.check_answers()  # those before were
        assert _received(clients[0]) < LARGE < _received(clients[-1])


@pytest.mark.slow
def test_what_is_too_large_to_be_kept_waits_for_its_client(
    server: SmallServer, impatient_server: SmallServer
) -> None:
    endless = b"GET /endless HTTP/1.0\r\nHost: a\r\n\r\n"
    with server.connect() as reader:
        reader.sendall(endless)
        time.sleep(0.3)
        assert _received(reader) > 10 * LARGE
    assert _is_cut_short(impatient_server, endless, 10 * LARGE)
    impatient_server.check_answers()


LARGE_UNREAD = 25_100_000  # bytes, in which each piece differs from those beside it
ANSWERS_UNREAD = """
BODY = bytes(range(251))

def app(environ, start_response):
    body = BODY * (100_000 if environ["PATH_INFO"] == "/large" else 1)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.mark.trial
def test_what_many_clients_do_not_read_leaves_the_memory(scratch: Path) -> None:
    """And is still sent to those who read it later."""
    with small_server(scratch / "unread", ANSWERS_UNREAD) as server, ExitStack() as stack:
        before = _peak_mb(server.worker)
        for _ in range(24):
            client = stack.enter_context(_deaf(server))
            client.sendall(ASKED_FOR_LARGE)
            assert client.recv(1, socket.MSG_PEEK)
        server.check_answers()
        # Each of two threads makes one, and the rest of one and a half stays.
        assert _peak_mb(server.worker) - before < 130
        assert receive(client).body == bytes(range(251)) * 100_000


def _peak_mb(process: int) -> float:
    """The most memory that a process has taken."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@pytest.mark.slow
def test_an_answer_that_finds_no_room_ends_early(scratch: Path) -> None:
    """Writing fails past a size of the file, as on a disk that is full."""
    in_files = f"response_buffer.MAX_IN_MEMORY = 0\n{ANSWERS_UNREAD}"
    with small_server(scratch / "full", in_files, "--preload", preexec=_small_files) as server:
        with _deaf(server) as client:
            client.sendall(ASKED_FOR_LARGE)
            wait_for(lambda: "a response failed" in server.log)
            assert 0 < _received(client) < LARGE_UNREAD
        server.check_answers()


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


def test_a_failure_in_the_middle_of_an_answer_does_no_harm(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(b"GET /failing HTTP/1.0\r\nHost: a\r\n\r\n")
        assert client.recv(1)
        server.check_answers()


def _deaf(server: SmallServer) -> socket.socket:
    """A connection that takes little, while its client does not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", server.port))
    client.settimeout(PATIENCE)
    return client


def _received(client: socket.socket) -> int:
    """How many bytes come until the connection ends."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024 * 1024)
    received = 0
    with contextlib.suppress(ConnectionError):
        while part := client.recv(65536):
            received += len(part)
    return received


BEGUN = {
    "a head": b"GET / HTTP/1.1\r\nHost: a\r\n",
    "a body": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234",
}


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN.keys())
@pytest.mark.slow
def test_the_rest_of_a_request_is_not_waited_for_for_ever(
    impatient_server: SmallServer, begun: bytes
) -> None:
    with impatient_server.connect() as client:
        began = time.monotonic()
        client.sendall(begun)
        answer = receive(client)
        assert answer.status == 408
        assert answer.headers["connection"] == "close"
        assert is_closed(client)
    assert time.monotonic() - began > 0.9


@pytest.mark.slow
def test_a_client_that_goes_on_slowly_is_not_waited_for_either(
    impatient_server: SmallServer,
) -> None:
    with impatient_server.connect() as client:
        client.sendall(BEGUN["a head"])
        with pytest.raises(ConnectionError):
            _go_on_sending(client, b"A: b\r\n")


def _go_on_sending(client: socket.socket, data: bytes) -> None:
    """Send again and again, for long, until that fails."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        client.sendall(data)
        time.sleep(0.1)


def test_a_connection_that_says_nothing_is_closed_without_a_word(
    impatient_server: SmallServer,
) -> None:
    with impatient_server.connect() as client:
        assert client.recv(1) == b""
