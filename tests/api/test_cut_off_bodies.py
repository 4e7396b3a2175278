"""A body of which only a part arrived is refused as that, and its refusal is not kept."""

from __future__ import annotations

import io

import pytest
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


@pytest.mark.parametrize("part", [b"", b'{"name', BODY[:-1]])
@pytest.mark.parametrize("headers", [{}, KEY])
def test_a_part_of_a_body_is_refused(client: Client, part: bytes, headers: dict[str, str]) -> None:
    response = send(client, part, headers)
    assert response.status_code == 400
    (detail,) = response.json["error"]["details"]
    assert detail["field"] == "body"
    assert f"of {len(BODY)} bytes" in detail["message"]


def test_the_whole_is_taken_under_the_same_key_afterwards(client: Client) -> None:
    send(client, BODY[:5], KEY)
    response = send(client, BODY, KEY)
    assert (response.status_code, response.json["data"]["name"]) == (201, "Wald")
