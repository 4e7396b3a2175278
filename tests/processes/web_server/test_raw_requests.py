"""What a real web server answers to requests that no HTTP library would send."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.http.middleware import SECURITY_HEADERS
from config import ROOT

pytestmark = pytest.mark.slow

SECRET = "canopy_key_not_for_the_log"

Ask = Callable[[bytes], list["Answer"]]


@dataclass(frozen=True)
class Answer:
    """One response, taken apart."""

    status: int
    headers: dict[str, str]
    body: Any


@pytest.fixture(scope="module")
def folder(scratch: Path) -> Path:
    made = scratch / "refusals"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def ask(folder: Path, valkey_url: str) -> Iterator[Ask]:
    """Sends bytes, and returns the responses that came before the server closed."""
    address = str(folder / "web.sock")
    command = ["-m", "gunicorn", "-c", "gunicorn.conf.py", "-b", f"unix:{address}", "wsgi:app"]
    environment = {
        "PATH": os.environ["PATH"],
        "INSTANCE_PATH": str(folder),
        "WEB_WORKERS": "1",
        "REDIS_URL": valkey_url,
    }
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
    try:
        _connect(server, address).close()
        yield lambda request: _exchange(_connect(server, address), request)
    finally:
        server.terminate()
        server.wait(60)


def _connect(server: subprocess.Popen[bytes], address: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    while server.poll() is None:
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            client.connect(address)
            return client
        time.sleep(0.02)
    raise AssertionError("the web server ended")


def _exchange(client: socket.socket, request: bytes) -> list[Answer]:
    with client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        received = b""
        while part := client.recv(65536):
            received += part
    return list(_answers(received))


def _answers(received: bytes) -> Iterator[Answer]:
    while received:
        head, received = received.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = int(headers["Content-Length"])
        yield Answer(int(first.split()[1]), headers, json.loads(received[:length]))
        received = received[length:]


def request(target: str = "/healthz", *fields: str, method: str = "GET", body: str = "") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: canopy.test", *fields, "", body]
    return "\r\n".join(lines).encode("latin-1")


MALFORMED = {
    "TLS on a plain port": (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
    "no version": (b"GET /healthz\r\n\r\n", 400),
    "an unknown version": (b"GET /healthz HTTP/9.1\r\nHost: canopy.test\r\n\r\n", 400),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "a method that is none": (request(method="G(T"), 400),
    "an address with raw bytes": (request("/v1/projects/\xff"), 400),
    "an address that is too long": (request("/" + "a" * 9000), 414),
    "a field that is too long": (request("/healthz", "X-Long: " + "a" * 9000), 431),
    "a head that is too long": (request("/healthz", *("X-Long: " + "a" * 8000,) * 9), 431),
    "too many fields": (request("/healthz", *(f"X-{n}: a" for n in range(101))), 431),
    "a name of a field with a space": (request("/healthz", "X Y: a"), 400),
    "a field over two lines": (request("/healthz", "X-Folded: a\r\n b"), 400),
    "two lengths": (request("/healthz", "Content-Length: 1", "Content-Length: 2"), 400),
    "a length and chunks": (
        request("/healthz", "Content-Length: 1", "Transfer-Encoding: chunked"),
        400,
    ),
    "two hosts": (request("/healthz", "Host: other.test"), 400),
    "an expectation": (request("/healthz", "Expect: tea"), 417),
    "a transfer coding": (request("/healthz", "Transfer-Encoding: tea"), 501),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_request_is_refused_in_the_envelope(ask: Ask, name: str) -> None:
    sent, status = MALFORMED[name]
    (answer,) = ask(sent)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Connection"] == "close"
    assert "Server" not in answer.headers
    assert answer.headers.items() >= dict(SECURITY_HEADERS).items()
    assert answer.body["error"]["code"] == "VALIDATION_ERROR"
    assert answer.body["error"]["message"].endswith(".")
    assert answer.body["error"]["details"] == []
    assert answer.body["meta"] == {"request_id": answer.headers["X-Request-Id"]}


def test_an_answer_does_not_name_the_web_server(ask: Ask) -> None:
    for target in ("/healthz", "/v1/projects", "/nothing"):
        (answer,) = ask(request(target))
        assert not {"Server", "X-Powered-By", "Via"} & answer.headers.keys()
        assert answer.headers.items() >= dict(SECURITY_HEADERS).items()
        assert "gunicorn" not in str(answer).lower()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ("GET /v1/projects?search=B\u00e4umen HTTP/1.1\r\nHost: a\r\n\r\n", "such as %C3%A4 for ä"),
        ("GET /v1/projects HTTP/1.1\r\n\r\n", "Send the header Host, which HTTP/1.1 requires."),
        ("POST /login HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "Send the header Host"),
    ],
)
def test_what_to_send_instead_is_said(ask: Ask, sent: str, message: str) -> None:
    (answer,) = ask(sent.encode())
    assert answer.status == 400
    assert message in answer.body["error"]["message"]


def test_http_1_0_needs_no_host(ask: Ask) -> None:
    (answer,) = ask(b"GET /healthz HTTP/1.0\r\n\r\n")
    assert answer.status == 200


def test_two_slashes_are_not_one(ask: Ask) -> None:
    for target in ("//v1/projects", "/v1//projects", "///healthz", "//"):
        (answer,) = ask(request(target))
        assert (answer.status, answer.body["error"]["code"]) == (404, "NOT_FOUND")


def test_a_limit_is_named(ask: Ask) -> None:
    (answer,) = ask(MALFORMED["an address that is too long"][0])
    assert "8,190 bytes" in answer.body["error"]["message"]


def test_a_refusal_without_a_thread_is_logged(ask: Ask, folder: Path) -> None:
    (answer,) = ask(MALFORMED["a head that is too long"][0])
    assert answer.headers["X-Request-Id"] in (folder / "log").read_text()


def test_what_was_sent_is_not_logged(ask: Ask, folder: Path) -> None:
    (answer,) = ask(f"GET /v1/projects?key={SECRET}\r\n\r\n".encode())
    logged = (folder / "log").read_text()
    assert answer.headers["X-Request-Id"] in logged
    assert SECRET not in logged


def test_a_body_with_broken_chunks_is_the_clients_fault(ask: Ask) -> None:
    fields = ["Transfer-Encoding: chunked", "Content-Type: application/json"]
    for chunks, status in (
        ("zz\r\n{}\r\n0\r\n\r\n", 400),
        ("2\r\n{}too long\r\n0\r\n\r\n", 400),
        ("5\r\n{}", 401),  # the rest of which is not waited for, without a credential
    ):
        (answer,) = ask(request("/v1/projects", *fields, method="POST", body=chunks))
        assert answer.status == status
        assert (
            answer.body["error"]["code"] == {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED"}[status]
        )


def test_a_compressed_transfer_is_refused(ask: Ask) -> None:
    fields = ["Transfer-Encoding: gzip, chunked", "Content-Type: application/json"]
    chunks = "2\r\n{}\r\n0\r\n\r\n"
    (answer,) = ask(request("/v1/projects", *fields, method="POST", body=chunks))
    assert answer.status == 415
    assert answer.body["error"]["code"] == "UNSUPPORTED_MEDIA_TYPE"


def test_a_broken_body_that_nobody_read_is_not_answered_twice(ask: Ask) -> None:
    chunks = "zz\r\n{}\r\n0\r\n\r\n"
    answers = ask(request("/healthz", "Transfer-Encoding: chunked", method="PUT", body=chunks))
    assert [answer.status for answer in answers] == [405]


def test_a_request_before_a_malformed_one_is_answered(ask: Ask) -> None:
    answers = ask(request("/healthz") + b"nonsense\r\n\r\n")
    assert [answer.status for answer in answers] == [200, 400]
