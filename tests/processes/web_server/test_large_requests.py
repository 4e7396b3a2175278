"""Which requests get the threads of a process: large ones few of them, one sender never all, those
whose requests are expensive half of them, and those who wait in turns."""

from __future__ import annotations

import itertools
import json
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.policy.request_limits import EXPENSIVE_BODY_BYTES, EXPENSIVE_WAITING
from app.security import tokens
from tests.processes.web_server.servers import SmallServer, receive, small_server
from tests.waiting import wait_for


def token(sender: str, number: int = 0) -> str:
    """A token that the application below has accepted as this account's."""
    return f"{tokens.API_KEY}{sender}{number}".ljust(len(tokens.API_KEY) + 38, "0")


# Works on a request with a body until there is a file; notes whose it has begun, by X-Name.
WORKING = """
import os, pathlib, time

from app.processes.web_server.response_buffer import note_expensive
from app.security.callers import note_account
from app.security.tokens import hash_token
from tests.processes.web_server.test_large_requests import SENDERS, token

here = pathlib.Path(__file__).parent
for sender in SENDERS:
    for number in range(3):
        note_account(hash_token(token(sender, number)), sender)

def app(environ, start_response):
    if environ["wsgi.input"].read():
        if "HTTP_X_EXPENSIVE" in environ:
            note_expensive()
        with (here / "begun").open("a") as begun:  # a number would be lost where two threads count
            begun.write(environ.get("HTTP_X_NAME", "x"))
        while not (here / "over").exists():
            time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


def begun(server: SmallServer) -> int:
    noted = server.folder / "begun"
    return len(noted.read_text()) if noted.exists() else 0


SENDERS = [*"abcdefghijklmnopqrstuvwxyz"]
_senders = itertools.cycle(SENDERS[2:])


def send(server: SmallServer, length: int, sender: str = "", lines: str = "") -> socket.socket:
    """Send a request; without a name, of somebody else than before.

    Args:
        lines: of the head, instead of the sender's credential.
    """
    client = server.connect()
    own = f"Authorization: Bearer {token(sender or next(_senders))}\r\n"
    head = (
        "POST / HTTP/1.1\r\nHost: a\r\n"
        f"{lines or own}X-Name: {sender or 'x'}\r\nContent-Length: {length}\r\n\r\n"
    )
    client.sendall(head.encode() + b"x" * length)
    return client


@pytest.mark.parametrize(("threads", "most"), [(8, 1 + EXPENSIVE_WAITING), (2, 1)])
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
def test_those_who_wait_take_turns(tmp_path: Path) -> None:
    with (
        small_server(tmp_path / "turns", WORKING, "--threads=1") as server,
        ExitStack() as stack,
    ):
        working = [stack.enter_context(send(server, 10, "a"))]
        wait_for(lambda: begun(server) == 1)
        for sender in "aaabbc":
            working.append(stack.enter_context(send(server, 10, sender)))
            time.sleep(0.05)  # so that they come in this order
        (server.folder / "over").touch()
        assert [receive(client).status for client in working] == [200] * 7
        assert (server.folder / "begun").read_text() == "aabcaba"


@pytest.mark.slow
def test_those_whose_requests_are_expensive_have_half_of_the_threads(tmp_path: Path) -> None:
    with (
        small_server(tmp_path / "expensive", WORKING, "--threads=4") as server,
        ExitStack() as stack,
    ):
        expensive = "Authorization: Bearer {}\r\nX-Expensive: yes\r\n"
        working = []
        for number, sender in enumerate("ab", start=1):
            head = expensive.format(token(sender))
            working.append(stack.enter_context(send(server, 10, sender, head)))
            wait_for(lambda number=number: begun(server) == number)  # type: ignore[misc]
        for sender in "ababcd":
            working.append(stack.enter_context(send(server, 10, sender)))
        wait_for(lambda: begun(server) == 4)
        assert (server.folder / "begun").read_text() in ("abcd", "abdc")
        (server.folder / "over").touch()
        assert [receive(client).status for client in working] == [200] * 8
