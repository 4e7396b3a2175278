"""Compressed answers as they come over the wire from a real web server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import Answer, Server, gunicorn
from tests.contract import decoded
from tests.make import make_project
from tests.make.wavy import polygon

ORIGIN = "https://app.example.org"
MEGABYTE = 1024 * 1024
each_coding = pytest.mark.parametrize("coding", ["gzip", "zstd"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    """A server with projects whose list is larger than a megabyte."""
    folder: Path = tmp_path_factory.mktemp("compressed")
    with gunicorn(folder, REDIS_URL=valkey_url, CORS_ORIGINS=ORIGIN) as running:
        for number in range(60):
            make_project(running.client, geometry=polygon(1_000, west=number / 10))
        yield running


@pytest.fixture(scope="module")
def item(server: Server) -> str:
    return f"/v1/projects/{make_project(server.client, geometry=polygon(51))['id']}"


def _get(server: Server, path: str, *headers: str, method: str = "GET") -> Answer:
    return server.send("\n".join([f"{method} {path} HTTP/1.1", *headers]))


def _data(answer: Answer) -> Any:
    return json.loads(_body(answer))["data"]


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


@pytest.mark.slow
@each_coding
def test_an_item(server: Server, item: str, coding: str) -> None:
    plain = _get(server, item)
    answer = _get(server, item, f"Accept-Encoding: {coding}")
    assert answer.headers["content-encoding"] == coding
    assert answer.headers["vary"] == "Accept, Accept-Encoding, Origin"
    assert int(answer.headers["content-length"]) == len(answer.body) < len(plain.body)
    assert _data(answer) == plain.json["data"]


@each_coding
@pytest.mark.slow
def test_a_list_of_more_than_a_megabyte(server: Server, coding: str) -> None:
    plain = _get(server, "/v1/projects?per_page=100")
    assert len(plain.body) > MEGABYTE
    answer = _get(server, "/v1/projects?per_page=100", f"Accept-Encoding: {coding}")
    assert answer.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in answer.headers
    assert _body(answer) == plain.body
    assert len(answer.body) * 1.5 < len(plain.body)


@pytest.mark.slow
def test_a_list_for_a_client_that_knows_no_chunks(server: Server) -> None:
    plain = _get(server, "/v1/projects?per_page=100")
    head = "GET /v1/projects?per_page=100 HTTP/1.0\nAccept-Encoding: gzip"
    answer = server.send(head)
    assert "transfer-encoding" not in answer.headers
    assert _body(answer) == plain.body


@each_coding
@pytest.mark.slow
def test_reading_again_and_changing_by_the_tag(server: Server, item: str, coding: str) -> None:
    accept = f"Accept-Encoding: {coding}"
    tag = _get(server, item, accept).headers["etag"]
    assert tag.endswith(f'-{coding}"')
    known = _get(server, item, accept, f"If-None-Match: {tag}")
    assert (known.status, known.headers["etag"], known.body) == (304, tag, b"")
    body = json.dumps({"description": f"changed by {coding}"}).encode()
    head = [
        f"PUT {item} HTTP/1.1",
        accept,
        f"If-Match: {tag}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    changed = server.send("\n".join(head), body)
    assert changed.status == 200
    assert _data(changed)["description"] == f"changed by {coding}"
    assert server.send("\n".join(head), body).status == 412
    assert _get(server, item, accept).headers["etag"] == changed.headers["etag"]


def test_head(server: Server, item: str) -> None:
    for path in (item, "/v1/projects?per_page=100"):
        read = _get(server, path, "Accept-Encoding: gzip")
        head = _get(server, path, "Accept-Encoding: gzip", method="HEAD")
        assert (head.status, head.body) == (200, b"")
        for name in ("content-encoding", "etag", "content-type", "vary"):
            assert head.headers[name] == read.headers[name]


@pytest.mark.slow
def test_without_asking_nothing_is_compressed(server: Server, item: str) -> None:
    for path in (item, "/v1/projects?per_page=100", "/docs", "/static/any/css/base.css"):
        answer = _get(server, path)
        assert "content-encoding" not in answer.headers
        assert int(answer.headers["content-length"]) == len(answer.body)


@pytest.mark.slow
def test_a_page_of_another_origin(server: Server, item: str) -> None:
    asked = ["Access-Control-Request-Method: PUT", f"Origin: {ORIGIN}"]
    question = _get(server, item, *asked, method="OPTIONS")
    assert (question.status, question.body) == (204, b"")
    assert question.headers["access-control-allow-origin"] == ORIGIN
    assert question.headers["access-control-allow-methods"] == "DELETE, GET, HEAD, PATCH, PUT"
    read = _get(server, item, f"Origin: {ORIGIN}", "Accept-Encoding: gzip")
    assert read.headers["access-control-allow-origin"] == ORIGIN
    assert read.headers["vary"] == "Accept, Accept-Encoding, Origin"
