"""``RATE_LIMIT_DISABLED``: nothing is limited, all is counted, and the log says so at the start."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask

from tests.api.server import gunicorn
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
        for _ in range(62):
            assert visitor.get("/v1/account").status_code == 401
        usage = client.get("/v1/account/usage").json["data"]
        assert usage["api_requests"]["current"] == 6


@pytest.mark.trial
@pytest.mark.parametrize(
    ("environ", "level"),
    [
        ({"RATE_LIMIT_DISABLED": "true"}, "INFO"),
        ({"RATE_LIMIT_DISABLED": "true", "CANOPY_ENV": "production"}, "WARNING"),
        ({}, None),
    ],
)
def test_the_log_says_so_at_the_start(
    scratch: Path, valkey_url: str, environ: dict[str, str], level: str | None
) -> None:
    folder = scratch / f"disabled-{level}"
    folder.mkdir()
    known = {"REDIS_URL": f"{valkey_url}?db=7", "SECRET_KEY": "s" * 32, "LOG_FORMAT": "json"}
    with gunicorn(folder, **known, **environ):
        pass
    log = (folder / "gunicorn.log").read_text()
    told = [line for line in log.splitlines() if "RATE_LIMIT_DISABLED" in line]
    assert len(told) == (0 if level is None else 1)
    assert all(f'"level":"{level}"' in line for line in told)
