"""Exports of a server with two processes: each counts its own, and one that dies leaves none."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from app.policy.files import EXPORT_RETRY_SECONDS, EXPORTS_AT_ONCE
from tests.api.server import Server, gunicorn
from tests.exports.streams import fill, request, rest
from tests.make import Client, make_account
from tests.processes.instances import wait_for

pytestmark = pytest.mark.slow

_PROCESSES = 2
_PROJECTS = 350  # of 40 KB each: more than the buffers of a connection hold
_PATH = "/v1/exports/projects?format=geojson"
_TRIES = 20  # of what is refused; whichever process takes one is left to chance
_SECONDS = 120  # at most, until both have taken some, or one was replaced

Begin = Callable[[Client], socket.socket | None]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("served")
    with gunicorn(folder, REDIS_URL=valkey_url, WEB_WORKERS=str(_PROCESSES)) as running:
        yield running


@pytest.fixture
def begin(server: Server) -> Iterator[Begin]:
    """Begins an export of an account, which stays open until the end of the test. Gives None when
    it was refused, as is documented."""
    with ExitStack() as opened:

        def run(client: Client) -> socket.socket | None:
            connection = request(server, _PATH, client)
            head = connection.recv(4_000).decode("latin-1")
            if head.startswith("HTTP/1.1 200 "):
                return opened.enter_context(connection)
            connection.close()
            assert head.startswith("HTTP/1.1 503 "), head
            assert f"\r\nRetry-After: {EXPORT_RETRY_SECONDS}\r\n" in head
            return None

        yield run


def _begin(begin: Begin, client: Client) -> socket.socket:
    """An export, once a process takes it that may."""
    deadline = time.monotonic() + _SECONDS
    while (connection := begin(client)) is None:
        assert time.monotonic() < deadline, "none takes it"
        time.sleep(0.1)  # well below the 1,000 requests a minute of the account's plan
    return connection


def _is_refused(begin: Begin, client: Client) -> bool:
    return not any(begin(client) for _ in range(_TRIES))


def _is_whole(connection: socket.socket) -> bool:
    """Read the rest. Returns whether it ends as HTTP demands."""
    received = b""
    with suppress(ConnectionResetError):
        received = rest(connection)
    return received.endswith(b"\r\n0\r\n\r\n")


def _processes(server: Server) -> set[int]:
    tasks = Path(f"/proc/{server.pid}/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def test_each_process_counts_its_own_and_a_killed_one_frees_them(
    server: Server, begin: Begin
) -> None:
    accounts = [make_account(server.client.app) for _ in range(EXPORTS_AT_ONCE + 1)]
    for each in accounts:
        fill(each, projects=_PROJECTS, positions=1_000)
    *first, last = accounts
    running = []
    for each in first:  # one in each process; then these are full
        running.append([_begin(begin, each) for _ in range(_PROCESSES)])
        assert _is_refused(begin, each)
    assert _is_refused(begin, last)

    processes = _processes(server)
    assert len(processes) == _PROCESSES
    killed = min(processes)
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: killed not in _processes(server), _SECONDS)
    _begin(begin, last)  # in the process that comes instead, which has room again
    for each in first[1:]:
        _begin(begin, each)
    assert all(_is_refused(begin, each) for each in accounts), "the other one is as full as before"
    for connections in running:
        assert sum(map(_is_whole, connections)) == _PROCESSES - 1
