"""What only a real server shows: chunked bodies, odd request lines, HEAD, compressed answers."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.server import Answer, Server, gunicorn
from tests.contract import decoded
from tests.make import make_account, make_key, make_project, revoke
from tests.make.compressed import each_coding
from tests.make.wavy import polygon

LIMIT = 100 * 1024
MEGABYTE = 1024 * 1024
LIST = "/v1/projects?per_page=100"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("served")
    settings = {"MAX_BODY_BYTES": str(LIMIT), "RATE_LIMIT_DISABLED": "true"}
    with gunicorn(folder, REDIS_URL=valkey_url, **settings) as running:
        yield running


def _chunked(body: bytes, size: int = 100) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    framed = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return framed + b"0\r\n\r\n"


CHUNKED = """POST /v1/projects HTTP/1.1
Content-Type: application/json
Transfer-Encoding: chunked
"""


def _project(length: int) -> bytes:
    """The body of a new project, padded to this many bytes."""
    return json.dumps({"name": f"Chunked {next(_numbers)}"}).encode().ljust(length)


def test_a_chunked_body_of_just_the_limit_is_read(server: Server) -> None:
    assert server.send(CHUNKED, _chunked(_project(LIMIT), 4000)).status == 201


def test_a_chunked_body_past_the_limit_is_refused(server: Server) -> None:
    for more in (1, 1_000_000):
        answer = server.send(CHUNKED, _chunked(_project(LIMIT + more), 4000))
        assert answer.status == 413
        assert answer.json["error"]["code"] == "PAYLOAD_TOO_LARGE"


def test_an_empty_chunked_body_is_an_empty_body(server: Server) -> None:
    answer = server.send(CHUNKED, b"0\r\n\r\n")
    assert answer.status == 422
    assert answer.json["error"]["details"][0]["field"] == "body"


def test_odd_targets(server: Server, subtests: pytest.Subtests) -> None:
    for target, status in (
        ("http://elsewhere.example/v1/projects", 200),
        ("//v1/projects", 404),
        ("/v1/projects/", 200),
        ("/v1//projects", 404),
        ("/v1/projects#page", 200),
        ("/%761/projects", 200),
        ("/v1/%00", 404),
        ("/v1/projects/%ff", 404),
        ("/v1/../v1/projects", 404),
    ):
        with subtests.test(target):
            answer = server.send(f"GET {target} HTTP/1.1")
            assert answer.status == status
            assert answer.json
            assert "x-request-id" in answer.headers


def test_head_is_get_without_a_body(server: Server) -> None:
    for target in ("/v1/projects", "/v1/forests"):
        read = server.send(f"GET {target} HTTP/1.1")
        head = server.send(f"HEAD {target} HTTP/1.1")
        assert (head.status, head.body) == (read.status, b"")
        for name in ("content-type", "content-length", "etag"):
            assert head.headers.get(name) == read.headers.get(name)


EXPECTING = CHUNKED.replace("Transfer-Encoding: chunked", "Expect: 100-continue")


def test_an_expectation_is_met(server: Server, subtests: pytest.Subtests) -> None:
    for path, status in (("/v1/projects", 201), ("/api/chat", 422)):  # which has no field "name"
        body = _project(200)
        lines = EXPECTING.replace("/v1/projects", path).strip().splitlines()
        lines += [f"Content-Length: {len(body)}", "Host: localhost"]
        lines += [f"Authorization: Bearer {server.client.token}", "", ""]
        with subtests.test(path), _connected(server) as connection:
            connection.sendall("\r\n".join(lines).encode())
            assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(body)
            assert connection.recv(1000).startswith(b"HTTP/1.1 %d " % status)


def test_a_body_that_is_too_large_is_not_asked_for(server: Server) -> None:
    assert server.send(f"{EXPECTING}Content-Length: {LIMIT + 1}").status == 413


def test_a_request_that_will_be_refused_is_answered_before_its_body(
    server: Server, subtests: pytest.Subtests
) -> None:
    """The body is never sent: what waited for it would be told 408."""
    json_type, multipart = "application/json", "multipart/form-data; boundary=b"
    own, wrong, none = f"Bearer {server.client.token}", "Bearer canopy_key_wrong", ""
    short, long = "Content-Length: 40", f"Content-Length: {LIMIT + 1}"
    chunked = "Transfer-Encoding: chunked"
    for path, media_type, credential, framing, status in (
        ("/v1/projects", "text/plain", none, long, 413),
        ("/v1/projects", json_type, own, long, 413),
        ("/v1/projects", "text/plain", none, short, 415),
        ("/v1/projects", "application/xml", own, chunked, 415),
        ("/v1/imports", json_type, wrong, short, 415),
        ("/api/chat", "text/plain", none, short, 415),
        ("/ogc/collections/projects/items", "text/plain", own, short, 415),
        ("/v1/forests", json_type, own, short, 404),
        ("/v1/projects", json_type, none, short, 401),
        ("/v1/projects", json_type, wrong, short, 401),
        ("/v1/projects", json_type, wrong, chunked, 401),
        ("/v1/imports", multipart, wrong, short, 401),
        ("/ogc/collections/projects/items", json_type, wrong, short, 401),
    ):
        head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {media_type}", framing]
        head += [f"Authorization: {credential}"] if credential else []
        with subtests.test(" ".join(head[:1] + head[2:])), _connected(server) as connection:
            connection.sendall("\r\n".join([*head, "", ""]).encode())
            assert connection.recv(1000).startswith(b"HTTP/1.1 %d " % status)


def test_a_request_whose_body_comes_later_is_answered_once(server: Server) -> None:
    body = _project(LIMIT)
    lines = ["POST /v1/projects HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json", f"Authorization: Bearer {server.client.token}"]
    with _connected(server) as connection:
        for _ in range(2):  # the second time the name is taken
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            for start in range(0, len(body), 30_000):
                time.sleep(0.01)  # so that it comes in pieces; it passes without, too
                connection.sendall(body[start : start + 30_000])
            assert connection.recv(9).startswith(b"HTTP/1.1 ")
            assert connection.recv(100_000)[:4] in (b"201 ", b"409 ")


def _connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def test_a_key_that_is_revoked_elsewhere_is_refused_at_once(server: Server) -> None:
    """The server is a process of its own; the key is revoked in this one."""
    key = make_key(server.client)
    bearer = server._replace(client=key)
    assert bearer.send("GET /v1/projects HTTP/1.1").status == 200
    revoke(key)
    assert bearer.send("GET /v1/projects HTTP/1.1").status == 401


@pytest.fixture(scope="module")
def large_list(server: Server) -> Server:
    """The server for an account with projects whose list is larger than a megabyte."""
    client = make_account(server.client.app)
    for number in range(32):
        make_project(client, geometry=polygon(1_900, west=number / 10))
    return server._replace(client=client)


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
def test_an_item_and_a_list_of_more_than_a_megabyte(large_list: Server, coding: str) -> None:
    item = f"/v1/projects/{make_project(large_list.client, geometry=polygon(51))['id']}"
    answer = large_list.send(f"GET {item} HTTP/1.1\nAccept-Encoding: {coding}")
    assert answer.headers["content-encoding"] == coding
    assert int(answer.headers["content-length"]) == len(answer.body)
    plain = large_list.send(f"GET {LIST} HTTP/1.1")
    assert "content-encoding" not in plain.headers
    assert int(plain.headers["content-length"]) == len(plain.body) > MEGABYTE
    answer = large_list.send(f"GET {LIST} HTTP/1.1\nAccept-Encoding: {coding}")
    assert answer.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in answer.headers
    assert _body(answer) == plain.body
    assert len(answer.body) * 1.5 < len(plain.body)
    head = large_list.send(f"HEAD {LIST} HTTP/1.1\nAccept-Encoding: {coding}")
    assert (head.status, head.body) == (200, b"")
    for name in ("content-encoding", "etag", "content-type", "vary"):
        assert head.headers[name] == answer.headers[name]


@pytest.mark.slow
def test_a_list_for_a_client_that_knows_no_chunks(large_list: Server) -> None:
    plain = large_list.send(f"GET {LIST} HTTP/1.1")
    answer = large_list.send(f"GET {LIST} HTTP/1.0\nAccept-Encoding: gzip")
    assert "transfer-encoding" not in answer.headers
    assert _body(answer) == plain.body
