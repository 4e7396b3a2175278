"""Using up a plan, and reading what is left of it."""

from __future__ import annotations

from werkzeug.test import TestResponse

from tests.make import Client


def shown(response: TestResponse) -> tuple[int, int]:
    """Limit and remaining of the headers."""
    headers = response.headers
    return int(headers["X-RateLimit-Limit"]), int(headers["X-RateLimit-Remaining"])


def use_up(client: Client, number: int) -> None:
    for _ in range(number):
        assert client.get("/v1/account").status_code == 200
