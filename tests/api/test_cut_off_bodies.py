"""A body of which only a part arrived is refused as that, and its refusal is not kept."""

from __future__ import annotations

import io

from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.unreader import IterUnreader
from werkzeug.test import TestResponse

from tests.make import Client

BODY = b'{"name": "Wald"}'
KEY = {"Idempotency-Key": "cut off"}


def send(client: Client, part: bytes, headers: dict[str, str]) -> TestResponse:
    """As gunicorn hands over a request whose connection ended after ``part``."""
    return client.send(
        "POST",
        "/v1/projects",
        headers={"Content-Type": "application/json"} | headers,
        environ_overrides={
            "wsgi.input": io.BytesIO(part),
            "wsgi.input_terminated": True,
            "CONTENT_LENGTH": str(len(BODY)),
        },
    )


def test_a_part_of_a_body_is_refused_and_the_whole_is_taken_afterwards(client: Client) -> None:
    for part in (b"", b'{"name', BODY[:-1]):
        for headers in ({}, KEY):
            response = send(client, part, headers)
            assert response.status_code == 400
            (detail,) = response.json["error"]["details"]
            assert detail["field"] == "body"
            assert f"of {len(BODY)} bytes" in detail["message"]
    response = send(client, BODY, KEY)
    assert (response.status_code, response.json["data"]["name"]) == (201, "Wald")


def test_broken_chunks_are_refused(client: Client) -> None:
    for sent in (b"8\r\nname=Wal", b"4\r\nnamed\r\n", b"x\r\n"):
        response = client.send(
            "POST",
            "/v1/projects",
            headers={"Content-Type": "application/json", "Transfer-Encoding": "chunked"},
            environ_overrides={
                "wsgi.input": Body(ChunkedReader(None, IterUnreader(iter([sent])))),
                "wsgi.input_terminated": True,
            },
        )
        message = "The chunked body is malformed or incomplete."
        assert (response.status_code, response.json["error"]["message"]) == (400, message)
