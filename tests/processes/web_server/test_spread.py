"""Kept-alive connections spread evenly over the web processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path

import pytest

from config import ROOT
from tests.ports import free_port
from tests.waiting import PATIENCE, wait_for

APPLICATION = """
import os

def app(environ, start_response):
    body = b"%d" % os.getpid()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
CONNECTIONS = 8


class Clients:
    """Eight clients that keep their connections, and connect again when the server closes one."""

    def __init__(self, port: int) -> None:
        self.connections = [HTTPConnection("127.0.0.1", port, timeout=PATIENCE) for _ in range(8)]
        self.closed = 0

    def ask(self) -> Counter[int]:
        """Let each send a request. How many connections each process holds afterwards."""
        found: Counter[int] = Counter()
        for connection in self.connections:
            connection.request("GET", "/")
            response = connection.getresponse()
            assert response.status == 200
            process = int(response.read())
            if response.will_close:
                self.closed += 1
            else:
                found[process] += 1
        return found

    def processes(self) -> set[int]:
        return set(self.ask())

    def are_even(self) -> bool:
        return sorted(self.ask().values()) == [4, 4]

    def close(self) -> None:
        for connection in self.connections:
            connection.close()


Serve = Callable[[int], Clients]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server with so many processes; returns its clients, all of the one process."""
    with contextlib.ExitStack() as started:

        def start(processes: int) -> Clients:
            (tmp_path / "answering.py").write_text(APPLICATION)
            port = free_port()
            command = [
                *(sys.executable, "-m", "gunicorn", "--config=/dev/null", "--threads=4"),
                "--keep-alive=600",
                *(f"--workers={processes}", f"--bind=127.0.0.1:{port}", "--no-control-socket"),
                "--worker-class=app.processes.web_server.gunicorn_worker.EnvelopeWorker",
                *(f"--pythonpath={ROOT},{tmp_path}", "answering:app"),
            ]
            log = started.enter_context((tmp_path / "log").open("wb"))
            server = subprocess.Popen(command, cwd=tmp_path, env=os.environ, stderr=log)
            started.callback(server.wait, PATIENCE)
            started.callback(server.terminate)
            return started.enter_context(contextlib.closing(_ask_one(port, server, processes)))

        yield start


def _ask_one(port: int, server: subprocess.Popen[bytes], processes: int) -> Clients:
    """Clients whose connections were all opened while the other processes were stopped."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    wait_for(lambda: len(children.read_text().split()) == processes)
    wait_for(lambda: _is_listening(port))
    others = [int(pid) for pid in children.read_text().split()[1:]]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    # One that still runs for a moment accepts a connection that it then keeps waiting.
    wait_for(lambda: all(_is_stopped(pid) for pid in others))
    clients = Clients(port)
    try:
        # Processes that do not move are not waited for after 3 seconds.
        wait_for(lambda: sum(clients.ask().values()) == CONNECTIONS)
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)
    return clients


def _is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def _is_listening(port: int) -> bool:
    with contextlib.suppress(ConnectionError), contextlib.closing(Clients(port)) as clients:
        return bool(clients.ask())
    return False


@pytest.mark.slow
def test_connections_of_one_process_spread_without_a_failed_request(serve: Serve) -> None:
    clients = serve(2)
    wait_for(clients.are_even)
    assert clients.closed >= 4

    def stay_even() -> bool:
        """One that gets no turn for 3 seconds counts as dead, and is made good for."""
        clients.closed = 0
        return all(clients.are_even() for _ in range(50)) and clients.closed == 0

    wait_for(stay_even)


@pytest.mark.slow
def test_the_process_that_follows_a_dead_one_gets_its_share(serve: Serve) -> None:
    clients = serve(2)
    wait_for(clients.are_even)
    dead = min(clients.processes())
    os.kill(dead, signal.SIGKILL)

    def are_even() -> bool:
        try:
            return clients.are_even() and dead not in clients.processes()
        except (RemoteDisconnected, ConnectionError):  # the connections of the dead one
            return False

    wait_for(are_even)
