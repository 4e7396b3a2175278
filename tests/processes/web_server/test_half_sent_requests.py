"""Requests that are not complete take no thread of the real service, whatever they are for."""

from __future__ import annotations

import contextlib
import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.api.server import Server, gunicorn
from tests.processes.web_server.servers import PATIENT
from tests.waiting import PATIENCE

EACH = 24
JSON = "Host: a\r\nContent-Type: application/json\r\n"
FORM = "Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\n"
HALF_SENT = {
    "heads": ("GET /docs HTTP/1.1\r\nHost: a\r\nX-Half: ",),
    "announced bodies": (
        f'POST /v1/projects HTTP/1.1\r\n{JSON}Content-Length: 100\r\n\r\n{{"name"',
        f"POST /oauth/token HTTP/1.1\r\n{FORM}Content-Length: 100\r\n\r\ngrant_type=",
    ),
    "chunked bodies": (
        f'POST /v1/projects HTTP/1.1\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n8\r\n{{"name"\r\n',
        f"POST /oauth/token HTTP/1.1\r\n{FORM}Transfer-Encoding: chunked\r\n\r\nb\r\ngrant_ty",
    ),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("half-sent")
    with gunicorn(folder, code=PATIENT, REDIS_URL=valkey_url) as running:
        yield running


@contextlib.contextmanager
def half_sent(server: Server, requests: tuple[str, ...]) -> Iterator[None]:
    """Connections that have sent the beginning of a request and wait."""
    with ExitStack() as stack:
        for number in range(EACH):
            client = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            stack.enter_context(client).sendall(requests[number % len(requests)].encode())
        yield


@pytest.mark.slow
@pytest.mark.parametrize("kind", HALF_SENT)
def test_half_sent_requests_delay_nobody(server: Server, kind: str) -> None:
    with half_sent(server, HALF_SENT[kind]):
        time.sleep(0.1)
        for _ in range(3):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            with contextlib.closing(connection):
                connection.request("GET", "/docs")
                assert connection.getresponse().status == 200
