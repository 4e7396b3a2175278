"""Requests to the routes below /api that take a signature and no token."""

from __future__ import annotations

import json
from typing import Any

from werkzeug.test import TestResponse

from app.security.signatures import signature_header
from tests.contract import check_contract
from tests.make.accounts import Client


def post_signed(
    client: Client, path: str, body: Any, secret: str, headers: dict[str, str] | None = None
) -> TestResponse:
    """Sign a body, which may be bytes already, and post it."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return post(
        client, path, raw, {"X-Service-Signature": signature_header(secret, raw)} | (headers or {})
    )


def post(client: Client, path: str, raw: bytes, headers: dict[str, str]) -> TestResponse:
    caller = client.app.test_client()
    response = caller.post(path, data=raw, headers=headers, content_type="application/json")
    check_contract(client.app, response)
    return response


def result(response: TestResponse) -> str:
    """The result in a 200 response."""
    assert response.status_code == 200, response.get_data(as_text=True)
    assert set(response.json) == {"data", "meta"}
    data = response.json["data"]
    assert data == {"received": True, "result": data["result"]}
    return data["result"]
