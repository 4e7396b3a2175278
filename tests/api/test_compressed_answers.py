"""Compressed answers as they come over the wire from a real web server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.server import Answer, Server, gunicorn
from tests.contract import decoded
from tests.make import make_project
from tests.make.compressed import each_coding
from tests.make.wavy import polygon

pytestmark = pytest.mark.slow

MEGABYTE = 1024 * 1024
LIST = "/v1/projects?per_page=100"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    """A server with projects whose list is larger than a megabyte."""
    folder: Path = tmp_path_factory.mktemp("compressed")
    with gunicorn(folder, REDIS_URL=valkey_url) as running:
        for number in range(32):
            make_project(running.client, geometry=polygon(1_900, west=number / 10))
        yield running


def _body(answer: Answer) -> bytes:
    """The body without the transfer coding and the content coding."""
    body = answer.body
    if answer.headers.get("transfer-encoding") == "chunked":
        body = _joined(body)
    return decoded(body, answer.headers.get("content-encoding"))


def _joined(chunks: bytes) -> bytes:
    """A body that came in chunks. Raises ValueError when the last of them is missing."""
    body = b""
    while True:
        length, _, chunks = chunks.partition(b"\r\n")
        size = int(length, 16)
        if size == 0:
            return body
        body, chunks = body + chunks[:size], chunks[size + 2 :]


@each_coding
def test_an_item_and_a_list_of_more_than_a_megabyte(server: Server, coding: str) -> None:
    item = f"/v1/projects/{make_project(server.client, geometry=polygon(51))['id']}"
    answer = server.send(f"GET {item} HTTP/1.1\nAccept-Encoding: {coding}")
    assert answer.headers["content-encoding"] == coding
    assert int(answer.headers["content-length"]) == len(answer.body)
    plain = server.send(f"GET {LIST} HTTP/1.1")
    assert "content-encoding" not in plain.headers
    assert int(plain.headers["content-length"]) == len(plain.body) > MEGABYTE
    answer = server.send(f"GET {LIST} HTTP/1.1\nAccept-Encoding: {coding}")
    assert answer.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in answer.headers
    assert _body(answer) == plain.body
    assert len(answer.body) * 1.5 < len(plain.body)
    head = server.send(f"HEAD {LIST} HTTP/1.1\nAccept-Encoding: {coding}")
    assert (head.status, head.body) == (200, b"")
    for name in ("content-encoding", "etag", "content-type", "vary"):
        assert head.headers[name] == answer.headers[name]


def test_a_list_for_a_client_that_knows_no_chunks(server: Server) -> None:
    plain = server.send(f"GET {LIST} HTTP/1.1")
    answer = server.send(f"GET {LIST} HTTP/1.0\nAccept-Encoding: gzip")
    assert "transfer-encoding" not in answer.headers
    assert _body(answer) == plain.body
