"""gunicorn as it is in production, on a free port, and raw requests to it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from flask import Flask

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from config import ROOT, load_settings
from tests import templates
from tests.make import Client, make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.ports import free_port
from tests.waiting import wait_for

START_SECONDS = 60


class Answer(NamedTuple):
    """What came back: the status, the headers in lower case, the body as it was."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server(NamedTuple):
    """A running server, and somebody who may use it."""

    port: int
    client: Client
    pid: int

    def send(self, head: str, body: bytes = b"") -> Answer:
        """One request, written as it is given, on a connection of its own.

        Args:
            head: request line and headers, a line each; Host and the credential are added.
        """
        lines = [*head.strip().splitlines(), f"Authorization: Bearer {self.client.token}"]
        lines += ["Host: localhost", "Connection: close", "", ""]
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall("\r\n".join(lines).encode())
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(body)  # it may be refused before it was read
            return _read(connection)


def web_processes(server: int, number: int) -> list[int]:
    """The processes that gunicorn has started, once there are so many."""
    children = Path(f"/proc/{server}/task/{server}/children")
    wait_for(lambda: len(children.read_text().split()) == number)
    return [int(pid) for pid in children.read_text().split()]


def _read(connection: socket.socket) -> Answer:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Answer(int(first.split()[1]), headers, body)


@contextlib.contextmanager
def gunicorn(folder: Path, *, code: str = "", **settings: str) -> Iterator[Server]:
    """A server with a database of its own: in ``folder``, unless the settings name one.

    Args:
        code: what is run before the application is made.
    """
    port = free_port()
    environ = {"INSTANCE_PATH": str(folder), "PORT": str(port), "WEB_WORKERS": "1"}
    environ |= CHEAP_PASSWORDS | settings
    if "DATABASE_URL" not in environ:
        templates.copy_sqlite(folder)
    app = create_app(load_settings(environ))
    with app.app_context():
        upgrade()
    client = make_account(app)
    _close(app)
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py"]
    (folder / "served.py").write_text(f"{code}\nfrom wsgi import app\n")
    command += [f"--pythonpath={folder}", "served:app"]
    bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with (folder / "gunicorn.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=bare | environ, stdout=log, stderr=log)
    try:
        _wait(port, process)
        yield Server(port, client, process.pid)
    finally:
        process.terminate()
        process.wait(60)
        _close(app)  # tests use it beside the server


def _close(app: Flask) -> None:
    with app.app_context():
        close_all()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("gunicorn did not start; its log is in the instance folder")
