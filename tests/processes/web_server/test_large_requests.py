"""Large requests have few threads of a process, so that one is left for the others."""

from __future__ import annotations

import itertools
import json
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.policy.bounds import EXPENSIVE_BODY_BYTES, EXPENSIVE_WAITING
from tests.processes.web_server.servers import SmallServer, receive, small_server
from tests.waiting import wait_for

# Works on a request with a body until there is a file; notes that it has begun.
WORKING = """
import os, pathlib, time

here = pathlib.Path(__file__).parent

def app(environ, start_response):
    if environ["wsgi.input"].read():
        with (here / "begun").open("a") as begun:  # a number would be lost where two threads count
            begun.write("x")
        while not (here / "over").exists():
            time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


def begun(server: SmallServer) -> int:
    noted = server.folder / "begun"
    return len(noted.read_text()) if noted.exists() else 0


_senders = itertools.count(1)


def send(server: SmallServer, length: int, sender: str = "") -> socket.socket:
    """Send a request; without a name, of somebody new."""
    client = server.connect()
    head = (
        "POST / HTTP/1.1\r\nHost: a\r\n"
        f"Authorization: Bearer {sender or next(_senders)}\r\nContent-Length: {length}\r\n\r\n"
    )
    client.sendall(head.encode() + b"x" * length)
    return client


@pytest.mark.parametrize(("threads", "most"), [(8, 1 + EXPENSIVE_WAITING), (4, 3), (2, 1)])
@pytest.mark.slow
def test_large_requests_beyond_a_few_are_refused_at_once(
    tmp_path: Path, threads: int, most: int
) -> None:
    with (
        small_server(tmp_path / "large", WORKING, f"--threads={threads}") as server,
        ExitStack() as stack,
    ):
        working = []
        for number in range(1, most + 1):
            working.append(stack.enter_context(send(server, EXPENSIVE_BODY_BYTES)))
            wait_for(lambda number=number: begun(server) == number)  # type: ignore[misc]
        for _ in range(3):
            answer = receive(stack.enter_context(send(server, EXPENSIVE_BODY_BYTES)))
            assert answer.status == 503
            assert int(answer.headers["retry-after"]) > 0
            error = json.loads(answer.body)["error"]
            assert error["message"].startswith("Too many large requests")
            server.check_answers()
        (server.folder / "over").touch()
        assert [receive(client).status for client in working] == [200] * most

        def all_pass() -> bool:
            after = [stack.enter_context(send(server, EXPENSIVE_BODY_BYTES)) for _ in range(most)]
            return [receive(client).status for client in after] == [200] * most

        wait_for(all_pass)  # their threads are free a moment after the client has the answer


@pytest.mark.slow
def test_small_requests_have_all_threads(tmp_path: Path) -> None:
    with (
        small_server(tmp_path / "small", WORKING) as server,
        send(server, 1_000) as first,
        send(server, 1_000) as second,
    ):
        wait_for(lambda: begun(server) == 2)
        (server.folder / "over").touch()
        assert (receive(first).status, receive(second).status) == (200, 200)


@pytest.mark.slow
def test_one_sender_leaves_a_thread_to_others(tmp_path: Path) -> None:
    with (
        small_server(tmp_path / "senders", WORKING, "--threads=4") as server,
        ExitStack() as stack,
    ):
        working = []
        for number, sender in enumerate(("a", "a", "a", "b"), start=1):
            client = stack.enter_context(send(server, EXPENSIVE_BODY_BYTES, sender))
            if number == 3:
                assert receive(client).status == 503
                continue
            working.append(client)
            wait_for(lambda: begun(server) == len(working))
        (server.folder / "over").touch()
        assert [receive(client).status for client in working] == [200, 200, 200]


@pytest.mark.slow
def test_many_small_requests_of_one_sender_leave_a_thread_to_others(tmp_path: Path) -> None:
    with (
        small_server(tmp_path / "many", WORKING, "--threads=4") as server,
        ExitStack() as stack,
    ):
        working = [stack.enter_context(send(server, 10, "a")) for _ in range(6)]
        wait_for(lambda: begun(server) == 3)
        working.append(stack.enter_context(send(server, 10, "b")))
        wait_for(lambda: begun(server) == 4)
        (server.folder / "over").touch()
        assert [receive(client).status for client in working] == [200] * 7
        assert begun(server) == 7
