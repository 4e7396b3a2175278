"""Compressed answers: who gets one, and what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask, Response

from app.http.compression import choose_coding
from tests.make import Client, make_account, make_project
from tests.make.apps import bare_app
from tests.make.compressed import CODINGS, body_of, data_of, each_coding, get_coded, tag_for
from tests.make.wavy import polygon

KILOBYTE = 1024


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Flask]:
    folder = tmp_path_factory.mktemp("compression")
    with bare_app(folder, REDIS_URL=valkey_url) as made:
        made.add_url_rule("/text/<int:size>", view_func=_text)
        yield made


@pytest.fixture(scope="module")
def caller(bare: Flask) -> Client:
    return make_account(bare)


@pytest.fixture(scope="module")
def path(caller: Client) -> str:
    """The address of a project of more than a kilobyte."""
    return f"/v1/projects/{make_project(caller, geometry=polygon(100))['id']}"


def _text(size: int) -> Response:
    return Response("a" * size, content_type="text/plain")


def test_the_client_chooses() -> None:
    for accepted, coding in [
        ("gzip", "gzip"),
        ("zstd", "zstd"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.9", "gzip"),
        ("zstd ; q=0.5 , gzip ; q=0.4", "zstd"),
        ("gzip;q=0.001", "gzip"),
        ("*", "gzip"),
        ("*;q=0.5", "gzip"),
        ("gzip;q=0, *", "zstd"),
        ("gzip, *;q=0", "gzip"),
        ("identity, gzip", "gzip"),
        ("identity;q=0.5, gzip", "gzip"),
        ("identity;q=0, gzip", "gzip"),
        ("br, gzip;q=0.1", "gzip"),
        ("", None),
        ("identity", None),
        ("gzip;q=0", None),
        ("gzip;q=0.000", None),
        ("gzip;q=0, zstd;q=0", None),
        ("*;q=0", None),
        ("identity;q=0", None),
        ("gzip;q=0.5, identity", None),
        ("gzip;q=0.5, identity;q=0.6", None),
        ("br, deflate", None),
        ("gzipped, x-zstd", None),
        ("gzip;q=much", None),
        (";;q=,,", None),
    ]:
        assert choose_coding(accepted, small=False) == coding


def test_a_small_answer_is_compressed_for_whoever_refuses_it_plain() -> None:
    for accepted, coding in [
        ("gzip", None),
        ("*", None),
        ("identity;q=0, gzip", "gzip"),
        ("*;q=0, zstd", "zstd"),
        ("identity;q=0", None),
    ]:
        assert choose_coding(accepted, small=True) == coding


@each_coding
def test_a_compressed_answer_is_the_plain_one_in_fewer_bytes(
    caller: Client, path: str, coding: str
) -> None:
    plain, compressed = get_coded(caller, path, None), get_coded(caller, path, coding)
    assert compressed.headers["Content-Encoding"] == coding
    assert data_of(compressed) == plain.json["data"]
    assert len(compressed.get_data()) * 1.5 < len(plain.get_data())
    assert int(compressed.headers["Content-Length"]) == len(compressed.get_data())
    assert compressed.headers["Content-Type"] == "application/json"


def test_a_cache_is_told_that_the_client_chose(caller: Client, path: str) -> None:
    for accepted in [None, "identity", "gzip;q=0", "br", *CODINGS]:
        vary = get_coded(caller, path, accepted).headers.getlist("Vary")
        assert vary == ["Accept, Accept-Encoding"]


def test_whoever_does_not_ask_gets_the_plain_one(caller: Client, path: str) -> None:
    for accepted in [None, "identity", "gzip;q=0", "br", "gzip;q=0, *;q=0"]:
        response = get_coded(caller, path, accepted)
        assert "Content-Encoding" not in response.headers
        assert response.headers["ETag"] == get_coded(caller, path, None).headers["ETag"]
        assert response.json["data"]["geometry"]


def test_small_answers_stay_as_they_are(bare: Flask) -> None:
    for size, accepted, coding in [
        (KILOBYTE, "gzip", None),
        (KILOBYTE + 1, "gzip", "gzip"),
        (KILOBYTE + 1, "zstd", "zstd"),
        (10, "gzip, identity;q=0", "gzip"),
        (1_000_000, "zstd", "zstd"),
    ]:
        response = bare.test_client().get(f"/text/{size}", headers={"Accept-Encoding": accepted})
        assert response.headers.get("Content-Encoding") == coding
        assert response.headers["Vary"] == "Accept-Encoding"
        assert body_of(response) == b"a" * size


def test_only_text_is_compressed(bare: Flask) -> None:
    for kind, compressed in [
        ("application/json", True),
        ("application/geo+json", True),
        ("text/html; charset=utf-8", True),
        ("text/css; charset=utf-8", True),
        ("text/javascript", True),
        ("text/plain; version=0.0.4", True),
        ("image/svg+xml", True),
        ("image/png", False),
        ("application/zip", False),
        ("application/octet-stream", False),
    ]:
        with bare.test_request_context(headers={"Accept-Encoding": "gzip"}):
            response = bare.process_response(Response("a" * 2000, content_type=kind))
        assert ("Content-Encoding" in response.headers) == compressed
        assert ("Vary" in response.headers) == compressed


def test_some_answers_are_left_alone(bare: Flask) -> None:
    """What must not be stored may hold a secret, which its compressed length would tell of."""
    for status, headers in [
        (200, {"Cache-Control": "no-store"}),
        (200, {"Content-Encoding": "br"}),
        (206, {"Content-Range": "bytes 0-1999/4000"}),
        (204, {}),
    ]:
        with bare.test_request_context(headers={"Accept-Encoding": "gzip"}):
            sent = Response(
                "a" * 2000,
                status=status,
                content_type="text/plain",
                headers=headers | {"ETag": '"a"'},
            )
            response = bare.process_response(sent)
        assert response.get_data() == b"a" * 2000
        assert response.headers.get("Content-Encoding") == headers.get("Content-Encoding")
        assert (response.headers["ETag"], "Vary" in response.headers) == ('"a"', status == 206)


@pytest.mark.parametrize("address", ["/docs", "/v1/openapi.json"])
@each_coding
def test_pages_and_their_tags(caller: Client, address: str, coding: str) -> None:
    plain, compressed = get_coded(caller, address, None), get_coded(caller, address, coding)
    assert body_of(compressed) == plain.get_data()
    tag = compressed.headers["ETag"]
    assert tag == tag_for(plain.headers["ETag"], coding)
    known = get_coded(caller, address, coding, **{"If-None-Match": tag})
    assert (known.status_code, known.headers["ETag"], known.get_data()) == (304, tag, b"")


@each_coding
def test_files_and_their_tags(bare: Flask, coding: str) -> None:
    address, accept = "/static/any/css/base.css", {"Accept-Encoding": coding}
    client = bare.test_client()
    with client.get(address) as plain, client.get(address, headers=accept) as compressed:
        assert compressed.headers["Content-Encoding"] == coding
        assert body_of(compressed) == plain.get_data()
        assert "Accept-Ranges" not in compressed.headers
        tag = compressed.headers["ETag"]
        assert tag == tag_for(plain.headers["ETag"], coding)
    with client.get(address, headers=accept | {"If-None-Match": tag}) as known:
        assert (known.status_code, known.headers["ETag"]) == (304, tag)
    with client.get(address, headers=accept | {"Range": "bytes=0-9"}) as part:
        assert (part.status_code, part.headers["Vary"]) == (206, "Accept-Encoding")
        assert part.get_data() == plain.get_data()[:10]
        assert "Content-Encoding" not in part.headers
    beyond = client.get(address, headers=accept | {"Range": "bytes=999999-"})
    assert (beyond.status_code, beyond.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    ranged = accept | {"Range": "bytes=0-9", "If-Range": tag}
    with client.get(address, headers=ranged) as whole:  # a part of another representation is none
        assert whole.status_code == 200


@each_coding
def test_head_is_get_without_the_body(caller: Client, path: str, coding: str) -> None:
    for address in (path, "/docs"):
        read = get_coded(caller, address, coding)
        head = caller.send("HEAD", address, headers={"Accept-Encoding": coding})
        assert head.get_data() == b""
        for name in ("Content-Encoding", "Content-Type", "ETag", "Vary"):
            assert head.headers[name] == read.headers[name]
        length = int(head.headers["Content-Length"])
        assert abs(length - len(read.get_data())) < 20  # ``meta`` has another id and time
