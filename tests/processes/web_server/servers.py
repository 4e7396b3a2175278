"""gunicorn with the service's worker class around a small application."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from config import ROOT
from tests.ports import free_port
from tests.waiting import PATIENCE

ASKED = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

PATIENT = """
from app.processes.web_server import arriving_requests, response_buffer
arriving_requests.REQUEST_TIMEOUT = arriving_requests.UPLOAD_TIMEOUT = 600.0
response_buffer.SEND_TIMEOUT = response_buffer.RESPONSE_TIMEOUT = 600.0
"""

# Answers with what it was sent: path, length and digest of the body.
ECHO = """
import hashlib

def app(environ, start_response):
    sent = environ["wsgi.input"].read()
    shown = f"{environ['PATH_INFO']} {len(sent)} {hashlib.md5(sent).hexdigest()}".encode()
    start_response("200 OK", [("Content-Length", str(len(shown)))])
    return [shown]
"""


def echoed(path: str, body: bytes = b"") -> bytes:
    """What ``ECHO`` answers."""
    return f"{path} {len(body)} {hashlib.md5(body).hexdigest()}".encode()


class SmallServer(NamedTuple):
    """A running server with one process."""

    port: int
    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def worker(self) -> int:
        """The id of the process that answers."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(path.read_text().split()[0])

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def check_answers(self) -> None:
        """See that a client that behaves is answered."""
        with self.connect() as client:
            client.sendall(ASKED)
            assert client.recv(100).startswith(b"HTTP/1.1 200")


class Received(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes


def receive(client: socket.socket) -> Received:
    """The next response of a connection, with nothing of one after it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        assert byte, f"closed after {head!r}"
        head += byte
    first, *lines = head.decode().strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = b""
    while len(body) < int(headers.get("content-length", 0)):
        body += client.recv(int(headers["content-length"]) - len(body))
    return Received(int(first.split()[1]), headers, body)


def is_closed(client: socket.socket) -> bool:
    """Whether nothing more comes."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


@contextlib.contextmanager
def small_server(
    folder: Path,
    application: str = ECHO,
    *options: str,
    preexec: Callable[[], None] | None = None,
) -> Iterator[SmallServer]:
    """Run an application with two threads. It waits for its clients: what they hold up, they hold
    up for longer than a test waits.

    Args:
        application: the code of a module with a WSGI application ``app``. It may set other times.
        options: of gunicorn.
        preexec: called in the process before it becomes gunicorn.
    """
    folder.mkdir(exist_ok=True)
    (folder / "small.py").write_text(PATIENT + application)
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "--config=/dev/null", "--threads=2", "--workers=1"),
        "--worker-class=app.processes.web_server.gunicorn_worker.EnvelopeWorker",
        *(
            "--no-control-socket",
            "--graceful-timeout=3",
            "--keep-alive=600",
            f"--bind=127.0.0.1:{port}",
        ),
        *(f"--pythonpath={ROOT},{folder}", *options, "small:app"),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ, stdout=log, stderr=log, preexec_fn=preexec
        )
    server = SmallServer(port, process, folder)
    try:
        while process.poll() is None:
            with contextlib.suppress(ConnectionError, AssertionError):
                server.check_answers()
                break
            time.sleep(0.02)
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE)
