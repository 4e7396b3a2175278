"""``RATE_LIMIT_DISABLED``: nothing is limited, all is counted, and the log says so at the start."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from tests.make import make_account, second_app


def test_no_limit_holds_and_everything_is_counted(app: Flask, plans_file: Path) -> None:
    with second_app(app, plans_file=plans_file, rate_limit_disabled=True) as made:
        client = make_account(made, plan="few")
        for _ in range(5):
            response = client.get("/v1/account")
            assert response.status_code == 200
            assert "X-RateLimit-Limit" not in response.headers
        visitor = made.test_client()
        body = {"email": "jo@example.org"}
        for _ in range(7):
            answer = visitor.post("/api/auth/check-email", json=body)
            assert (answer.status_code, "X-RateLimit-Limit" in answer.headers) == (200, False)
        usage = client.get("/v1/account/usage").json["data"]
        assert usage["api_requests"]["current"] == 6
