"""Running applications: a loopback server for redirects, and programs."""

from __future__ import annotations

import queue
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.captured import piped
from tests.node import NODE, modules

SECONDS = 60  # that anything here may take


class Loopback:
    """A loopback server that receives redirects."""

    def __init__(self, port: int) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.uri = f"{self.origin}/back"
        self.came: queue.Queue[str] = queue.Queue()

    def address(self) -> str:
        """The URL of the next request."""
        return self.came.get(timeout=SECONDS)

    def response(self) -> dict[str, str]:
        """The parameters of the next request, each of which must occur once."""
        pairs = parse_qsl(urlsplit(self.address()).query, strict_parsing=True)
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)


@contextmanager
def loopback(
    files: Mapping[str, str] | None = None, onward: str = "", port: int = 0
) -> Iterator[Loopback]:
    """Listen on a port, by default a free one. Each path serves a file, if there is one.

    Args:
        onward: where it redirects to; empty: nowhere.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == "/back":
                made.came.put(made.origin + self.path)
            self.send_response(302 if onward else 200)
            if onward:
                self.send_header("Location", onward)
            self.send_header("Content-Type", guess_type(path)[0] or "text/html")
            self.end_headers()
            self.wfile.write((files or {}).get(path, "Back.").encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Do not log."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        made = Loopback(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


class Program:
    """A program that prints a URL to open, and then its results."""

    def __init__(
        self, command: list[str], folder: Path, environment: Mapping[str, str | None]
    ) -> None:
        settings = {name: value for name, value in environment.items() if value is not None}
        self.process = piped(command, cwd=folder, env=settings)
        self._watch = threading.Timer(SECONDS, self.process.kill)
        self._watch.daemon = True
        self._watch.start()

    def address(self) -> str:
        """The URL in the next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"https?://\S+", line)
        assert found, (line, self.process.communicate())
        return found[0]

    def finish(self) -> str:
        """The rest of its output, once it has ended successfully."""
        printed, complaint = self.process.communicate()
        self._watch.cancel()
        assert (self.process.returncode, complaint) == (0, "")
        return printed


def program(
    language: str, code: str, folder: Path, environment: Mapping[str, str | None]
) -> Program:
    """A program in Python or JavaScript; the latter finds the packages of the tests."""
    packages = folder / "node_modules"
    if not packages.exists():
        packages.symlink_to(modules())
    name = "program.py" if language == "python" else "program.mjs"
    (folder / name).write_text(code)
    interpreter = sys.executable if language == "python" else str(NODE)
    return Program([interpreter, name], folder, environment)
