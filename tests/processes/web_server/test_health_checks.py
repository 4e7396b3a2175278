"""``/healthz`` and ``/readyz`` wait for no other request."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes.web_server.servers import ASKED, receive, small_server

# Two threads, which are busy until the file is there.
APPLICATION = """
import time
from pathlib import Path

def app(environ, start_response):
    while environ["PATH_INFO"].startswith("/busy") and not Path("over").exists():
        time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "1")])
    return [b"x"]
"""


@pytest.mark.slow
def test_they_are_answered_while_all_threads_are_busy(tmp_path: Path) -> None:
    with small_server(tmp_path / "busy", APPLICATION) as server, ExitStack() as stack:
        busy = [stack.enter_context(server.connect()) for _ in range(4)]
        for client in busy:
            client.sendall(ASKED.replace(b" / ", b" /busy "))
        for target in ("GET /healthz", "HEAD /healthz", "GET /healthz?from=proxy", "GET /readyz"):
            with server.connect() as client:
                client.sendall(ASKED.replace(b"GET /", target.encode()))
                assert client.recv(100).startswith(b"HTTP/1.1 200")
        (server.folder / "over").touch()
        assert [receive(client).status for client in busy] == [200] * 4
        kept = stack.enter_context(server.connect())
        for path in (b"/healthz", b"/other", b"/healthz", b"/healthzone"):
            kept.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n")
            assert receive(kept).body == b"x"


@pytest.mark.slow
def test_large_ones_take_the_other_threads(tmp_path: Path) -> None:
    chunked = b"GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with small_server(tmp_path / "large", APPLICATION) as server, ExitStack() as stack:
        for _ in range(4):
            client = stack.enter_context(server.connect())
            client.sendall(ASKED.replace(b" / ", b" /busy "))
        with server.connect() as client:
            client.settimeout(0.5)
            client.sendall(chunked + 2_000 * b"1\r\nx\r\n" + b"0\r\n\r\n")
            with pytest.raises(TimeoutError):
                client.recv(1)
        (server.folder / "over").touch()
