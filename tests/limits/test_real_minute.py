"""Real windows of real sixty seconds, of every kind at once, on nobody's clock but Valkey's."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.make import make_account

Call = Callable[[], TestResponse]


@pytest.mark.trial  # of the minute itself: what happens at its end is tested with shorter ones
def test_windows_end_after_sixty_seconds(limited: Flask) -> None:
    account, visitor = make_account(limited, plan="few"), limited.test_client()
    calls: list[tuple[int, Call]] = [
        (3, lambda: account.get("/v1/account")),
        (60, lambda: visitor.get("/v1/account")),
        (5, lambda: visitor.post("/api/auth/check-email", json={"email": "jo@example.org"})),
        (30, lambda: visitor.post("/api/projects/validate-slug", json={"slug": "woods"})),
        (60, lambda: visitor.get("/api/health")),
    ]
    began = [time.monotonic() for _ in calls]
    for number, (limit, call) in enumerate(calls):
        began[number] = time.monotonic()
        for used in range(1, limit + 1):
            assert int(call().headers["X-RateLimit-Remaining"]) == limit - used
        refused = call()
        assert refused.status_code == 429
        passed = time.monotonic() - began[number]
        assert abs(int(refused.headers["Retry-After"]) - (60 - passed)) <= 1.1
    _wait(began[0] + 50)
    for _, call in calls:
        assert call().status_code == 429
    _wait(began[0] + 59)
    assert calls[0][1]().status_code == 429
    _wait(began[-1] + 60.05)
    for limit, call in calls:
        response = call()
        assert response.status_code != 429
        assert int(response.headers["X-RateLimit-Remaining"]) == limit - 1


def _wait(until: float) -> None:
    time.sleep(max(0, until - time.monotonic()))
