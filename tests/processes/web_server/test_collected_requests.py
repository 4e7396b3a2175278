"""Requests reach the application whole, however they arrive, and take up no more than they may."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes.web_server.servers import (
    ECHO,
    SmallServer,
    echoed,
    is_closed,
    receive,
    small_server,
)
from tests.waiting import wait_for

DRIP = b"GET / HTTP/1.1\r\nHost: a\r\nX-Begun: "
IN_FILES = f"""
from app.processes.web_server import gunicorn_worker
gunicorn_worker.MAX_IN_MEMORY = 0
{ECHO}
"""
BODY = random.Random(1).randbytes(300_000)


@pytest.fixture(scope="module")
def server(scratch: Path) -> Iterator[SmallServer]:
    with small_server(scratch / "collected", ECHO) as running:
        yield running


def post(path: str, body: bytes, *fields: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: a", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(head).encode() + body


def chunked(path: str, body: bytes, size: int) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


SENT = {
    "/none": b"",
    "/small": b"hello",
    "/chunks": BODY[:5000],
    "/large": BODY,
    "/large-chunks": BODY[::-1],
}
PIPELINE = b"".join(
    [
        b"GET /none HTTP/1.1\r\nHost: a\r\n\r\n",
        post("/small", b"hello"),
        chunked("/chunks", SENT["/chunks"], 100),
        post("/large", SENT["/large"]),
        chunked("/large-chunks", SENT["/large-chunks"], 7000),
        b"GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ]
)


@pytest.mark.parametrize("size", [1_000_000, 1_000])
def test_requests_that_are_sent_at_once_are_answered_in_order(
    server: SmallServer, size: int
) -> None:
    """Cut anywhere: the beginning of the next request arrives with the end of the one before."""
    with server.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(PIPELINE), size):
            client.sendall(PIPELINE[at : at + size])
        for path, body in SENT.items():
            assert receive(client)[::2] == (200, echoed(path, body))
        assert receive(client).body == echoed("/none")
        assert is_closed(client)


def test_a_request_byte_by_byte_is_answered_and_the_connection_kept(server: SmallServer) -> None:
    with server.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in (post("/a", b"hello"), chunked("/b", b"hello", 2)):
            for byte in request:
                client.sendall(bytes([byte]))
                time.sleep(0.001)
            assert receive(client).body.startswith((b"/a 5", b"/b 5"))


def test_a_client_that_asks_for_leave_gets_it_once(server: SmallServer) -> None:
    request = post("/asked", b"hello", "Expect: 100-continue")
    with server.connect() as client:
        client.sendall(request[:-5])
        assert receive(client).status == 100
        client.sendall(request[-5:])
        assert receive(client).body == echoed("/asked", b"hello")
        client.sendall(request)  # without waiting
        assert receive(client).body == echoed("/asked", b"hello")


def test_leave_is_not_given_for_a_body_that_is_too_large(server: SmallServer) -> None:
    with server.connect() as client:
        length = "Content-Length: 99999999\r\nExpect: 100-continue"
        client.sendall(f"POST / HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n".encode())
        answer = receive(client)
        assert answer.status == 200  # this application looks at no length
        assert answer.headers["connection"] == "close"


@pytest.mark.slow
def test_a_client_that_ends_early_is_answered_and_not_waited_for(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(post("/early", b"hello")[:-2])
        client.shutdown(socket.SHUT_WR)
        answer = receive(client)
        assert answer.body == echoed("/early", b"hel")
        assert answer.headers["connection"] == "close"
    with server.connect() as client:
        client.sendall(DRIP)
        client.shutdown(socket.SHUT_WR)
        assert is_closed(client)


def test_a_head_that_is_too_large_is_refused(server: SmallServer) -> None:
    with server.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 12_000)
        answer = receive(client)
    assert answer.status == 431
    assert "65,536 bytes" in json.loads(answer.body)["error"]["message"]


def test_very_small_chunks_are_refused(server: SmallServer) -> None:
    with server.connect() as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(chunked("/", b"x" * 300_000, 1))
        answer = receive(client)
    assert answer.status == 400
    assert "chunks" in json.loads(answer.body)["error"]["message"]


HALF_SENT = (
    DRIP,
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\ngrant_type=",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\ngrant_ty",
)


def test_half_sent_requests_take_no_thread(server: SmallServer) -> None:
    with ExitStack() as stack:
        for sent in HALF_SENT * 8:
            stack.enter_context(server.connect()).sendall(sent)
        server.check_answers()


def open_files(server: SmallServer) -> list[str]:
    folder = Path(f"/proc/{server.worker}/fd")
    return [os.readlink(each) for each in folder.iterdir() if each.is_symlink()]


@pytest.mark.slow
def test_a_large_body_is_in_a_file_of_the_folder_and_leaves_nothing(tmp_path: Path) -> None:
    config = tmp_path / "config.py"
    config.write_text(f"tmp_upload_dir = {str(tmp_path)!r}")
    before = set(os.listdir(tmp_path))

    def spooled() -> list[str]:
        return [name for name in open_files(server) if name.startswith(f"{tmp_path}/#")]

    with small_server(tmp_path / "served", IN_FILES, "--preload", f"--config={config}") as server:
        request = post("/large", BODY)
        with server.connect() as client, server.connect() as gone:
            for each in (client, gone):
                each.sendall(request[:-10])
            wait_for(lambda: len(spooled()) == 2)
            assert set(os.listdir(tmp_path)) - {"__pycache__"} == before | {"served"}
            gone.close()
            wait_for(lambda: len(spooled()) == 1)
            client.sendall(request[-10:])
            assert receive(client).body == echoed("/large", BODY)
            wait_for(lambda: not spooled())


UNREAD = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "5")])
    return [b"later"]
"""


@pytest.mark.slow
def test_a_connection_outlives_a_large_body_that_is_not_read(tmp_path: Path) -> None:
    with small_server(tmp_path / "unread", UNREAD) as server, server.connect() as client:
        for request in (post("/", BODY), chunked("/", BODY, 70_000), post("/", b"")):
            client.sendall(request)
            assert receive(client).body == b"later"


# Bounds

NO_ROOM = f"""
from app.processes.web_server import gunicorn_worker
gunicorn_worker.MAX_IN_MEMORY = 0
gunicorn_worker.MAX_IN_FILES = 400_000
{ECHO}
"""


def is_refused(server: SmallServer) -> bool:
    """Whether a large body finds no room, and says so soon."""
    with server.connect() as client:
        client.sendall(post("/large", BODY)[:-1])
        client.settimeout(1)
        try:
            answer = receive(client)
        except TimeoutError:
            return False
    assert answer.status == 503
    assert json.loads(answer.body)["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert int(answer.headers["retry-after"]) > 0
    return True


def largest_file(server: SmallServer) -> int:
    """Bytes of the largest file that the process has open."""
    folder = Path(f"/proc/{server.worker}/fd")
    return max(each.stat().st_size for each in folder.iterdir() if each.exists())


@pytest.mark.slow
def test_large_bodies_have_a_bound_together(tmp_path: Path) -> None:
    with small_server(tmp_path / "full", NO_ROOM, "--preload") as server:
        with server.connect() as first:
            first.sendall(post("/large", BODY)[:-1])
            # Else another may come before it. Python holds the last 128 KiB back.
            wait_for(lambda: largest_file(server) > 150_000)
            wait_for(lambda: is_refused(server))
            server.check_answers()
            first.sendall(BODY[-1:])
            assert receive(first).body == echoed("/large", BODY)
        wait_for(lambda: not is_refused(server))


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


@pytest.mark.slow
def test_a_full_disk_is_survived(tmp_path: Path) -> None:
    """Writing fails past a size of the file, as on a disk that is full."""
    with small_server(tmp_path / "full", IN_FILES, "--preload", preexec=_small_files) as server:
        worker = server.worker
        wait_for(lambda: is_refused(server))
        with server.connect() as client:
            client.sendall(post("/", BODY[:140_000]))
            assert receive(client).body == echoed("/", BODY[:140_000])
        assert server.worker == worker


@pytest.mark.slow
def test_of_too_many_connections_an_idle_one_or_the_slowest_goes(tmp_path: Path) -> None:
    with (
        small_server(tmp_path / "many", ECHO, "--worker-connections=20") as server,
        ExitStack() as stack,
    ):
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"):
            for _ in range(40):
                stack.enter_context(server.connect()).sendall(sent)
            server.check_answers()
        dripping = []
        for _ in range(40):
            dripping.append(stack.enter_context(server.connect()))
            dripping[-1].sendall(DRIP)
            time.sleep(0.01)
        server.check_answers()
        answer = receive(dripping[0])
        assert answer.status == 503
        assert "retry-after" in answer.headers
        dripping[-1].sendall(b"\r\n\r\n")
        assert receive(dripping[-1]).status == 200


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))


@pytest.mark.slow
def test_a_process_without_files_to_open_survives(tmp_path: Path) -> None:
    with small_server(tmp_path / "few", ECHO, preexec=_few_files) as server, ExitStack() as stack:
        worker = server.worker
        for _ in range(150):
            stack.enter_context(server.connect()).sendall(DRIP)
        server.check_answers()
        assert server.worker == worker


# What is not complete 3 seconds after the signal is refused.
SOON_REFUSED = (
    f"import app.processes.web_server.gunicorn_worker as own; own._LAST_ANSWERS = 597.0\n{ECHO}"
)


@pytest.mark.slow
def test_half_sent_requests_do_not_hold_up_the_end(tmp_path: Path) -> None:
    options = (SOON_REFUSED, "--graceful-timeout=600")
    with small_server(tmp_path / "end", *options) as server, ExitStack() as stack:
        dripping = [stack.enter_context(server.connect()) for _ in range(10)]
        for client in dripping:
            client.sendall(DRIP)
        late = stack.enter_context(server.connect())
        late.sendall(post("/late", b"hello")[:-1])
        server.check_answers()  # those that came before were accepted before
        server.process.terminate()
        time.sleep(0.5)
        late.sendall(b"o")
        answer = receive(late)
        assert answer.body == echoed("/late", b"hello")
        assert answer.headers["connection"] == "close"
        assert {receive(client).status for client in dripping} == {503}
