"""The tiers of the web application: a window of 60 seconds for each client."""

from __future__ import annotations

import time
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.jobs.valkey import valkey
from app.limits.limiter import client_of
from app.policy.rate_limits import AREAS, ROUTES, TIERS, Limit
from tests.make import make_account, second_app
from tests.waiting import wait_for

STRICT, STANDARD, LENIENT = "/api/auth/check-email", "/api/onboarding/validate-slug", "/api/health"
BODIES: dict[str, Any] = {
    STRICT: {"email": "jo@example.org"},
    "/api/onboarding/validate-email": {"email": "jo@example.org"},
    STANDARD: {"slug": "green-woods"},
    "/api/projects/validate-slug": {"slug": "green-woods"},
}


def call(visitor: Any, path: str, **options: Any) -> TestResponse:
    if path == LENIENT:
        return visitor.get(path, **options)
    return visitor.post(path, json=BODIES.get(path, {}), **options)


def left(response: TestResponse) -> int:
    return int(response.headers["X-RateLimit-Remaining"])


def _tier(path: str) -> str:
    return next((each.name for each in ROUTES[path] if isinstance(each, Limit)), "exempt")


def test_the_table_is_that_of_the_specification() -> None:
    assert {tier.name: tier.requests for tier in TIERS} == {
        "strict": 5,
        "standard": 30,
        "lenient": 60,
    }
    assert [tier.name for tier in AREAS["/api"]] == ["standard"]
    by_tier: dict[str, set[str]] = {}
    for path in ROUTES:
        if path.startswith("/api/"):
            by_tier.setdefault(_tier(path), set()).add(path)
    assert by_tier == {
        "strict": {"/api/auth/check-email", "/api/onboarding/validate-email"},
        "standard": {
            "/api/onboarding/validate-slug",
            "/api/projects/validate-slug",
            "/api/chat",
        },
        "lenient": {"/api/health"},
        "exempt": {
            "/api/billing/webhook",
            "/api/billing/payment-provider-webhook",
            "/api/db/webhook",
        },
    }


def test_every_route_of_the_table_exists(app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    assert set(ROUTES) <= rules


@pytest.mark.parametrize(("path", "limit"), [(STRICT, 5), (STANDARD, 30)])
def test_a_window_allows_as_many_as_its_tier_says(app: Flask, path: str, limit: int) -> None:
    visitor, began = app.test_client(), time.monotonic()
    for used in range(1, limit + 1):
        response = call(visitor, path)
        assert (response.status_code, left(response)) == (200, limit - used)
        assert response.headers["X-RateLimit-Limit"] == str(limit)
    refused = call(visitor, path)
    passed = time.monotonic() - began
    assert (refused.status_code, left(refused)) == (429, 0)
    assert refused.json["error"]["code"] == "RATE_LIMITED"
    assert 60 - passed <= int(refused.headers["Retry-After"]) + 1 <= 61
    assert 0 <= int(refused.headers["X-RateLimit-Reset"]) - time.time() <= 61


def test_after_the_window_the_count_begins_anew(app: Flask) -> None:
    visitor, path = app.test_client(), STRICT
    limit = next(tier.requests for tier in TIERS if tier.name == _tier(path))
    for _ in range(limit):
        call(visitor, path)
    _end_window(app, visitor, path, 30_000)
    refused = call(visitor, path)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 30
    _end_window(app, visitor, path, 50)
    response = wait_for(lambda: (answer := call(visitor, path)).status_code == 200 and answer)
    assert left(response) == limit - 1
    with app.app_context():
        assert 30_000 < valkey().client.pttl(_key(visitor, path)) <= 60_000


def _end_window(app: Flask, visitor: Any, path: str, milliseconds: int) -> None:
    """Let a window end so soon."""
    with app.app_context():
        valkey().client.pexpire(_key(visitor, path), milliseconds)


def _key(visitor: Any, path: str) -> str:
    return f"canopy:window:{_tier(path)}:{client_of(visitor.environ_base['REMOTE_ADDR'])}"


def test_refused_requests_do_not_make_the_window_longer(app: Flask) -> None:
    visitor = app.test_client()
    for _ in range(5):
        call(visitor, STRICT)
    _end_window(app, visitor, STRICT, 500)
    wait_for(lambda: call(visitor, STRICT).status_code == 200)


def test_routes_of_a_tier_share_its_window_and_tiers_do_not(app: Flask) -> None:
    visitor = app.test_client()
    assert left(call(visitor, STRICT)) == 4
    assert left(call(visitor, "/api/onboarding/validate-email")) == 3
    assert left(call(visitor, STANDARD)) == 29
    assert left(call(visitor, LENIENT)) == 59


def test_what_is_not_there_has_the_tier_of_its_address(app: Flask) -> None:
    for method, path, status, limit in (
        ("GET", "/api/nothing", 404, "30"),
        ("GET", STRICT, 405, "5"),
        ("POST", "/api", 404, None),
    ):
        response = app.test_client().open(path, method=method)
        assert response.status_code == status
        assert response.headers.get("X-RateLimit-Limit") == limit


def test_a_slash_at_the_end_is_no_way_around_a_tier(app: Flask) -> None:
    visitor = app.test_client()
    call(visitor, STRICT)
    response = visitor.post(f"{STRICT}/", json=BODIES[STRICT])
    assert (response.status_code, left(response)) == (200, 3)


def test_refused_bodies_count(app: Flask) -> None:
    visitor = app.test_client()
    assert left(visitor.post(STRICT, json={"email": "x"})) == 4
    assert left(visitor.post(STRICT, data=b"x", content_type="text/plain")) == 3
    assert left(visitor.post(STRICT, data=b"{", content_type="application/json")) == 2


@pytest.mark.provokes(503)
def test_exempt_routes_have_no_limit(app: Flask) -> None:
    for path in (path for path in ROUTES if not ROUTES[path]):
        visitor = app.test_client()
        for _ in range(31):
            response = visitor.post(path, json={})
            assert response.status_code != 429
            assert "X-RateLimit-Limit" not in response.headers


def test_pages_are_not_counted(app: Flask) -> None:
    for path in ("/healthz", "/readyz", "/docs", "/metrics", "/"):
        assert "X-RateLimit-Limit" not in app.test_client().get(path).headers


def test_who_is_one_client() -> None:
    for first, second, same in (
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("203.0.113.7", "203.0.113.8", False),
        ("203.0.113.7", "::ffff:203.0.113.7", True),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.8", False),
        ("", "nonsense", True),
    ):
        assert (client_of(first) == client_of(second)) is same, (first, second)


def test_an_address_that_a_client_claims_is_not_believed(app: Flask) -> None:
    visitor = app.test_client()
    for used, claimed in enumerate(("1.1.1.1", "2.2.2.2", "3.3.3.3"), 1):
        for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
            visitor.environ_base[f"HTTP_{name.upper().replace('-', '_')}"] = claimed
        assert left(call(visitor, STRICT)) == 5 - used


def test_behind_a_proxy_the_client_is_whom_the_proxy_names(app: Flask) -> None:
    with second_app(app, trusted_proxies=1) as proxied:
        visitor = proxied.test_client()
        one, other = (proxied.test_client().environ_base["REMOTE_ADDR"] for _ in range(2))
        network = "2001:db8:" + ":".join(one.split(".")[2:])
        for claimed, remaining in (
            (one, 4),
            (f"9.9.9.9, {one}", 3),
            (f"{one}, {other}", 4),
            (f"{network}::1", 4),
            (f"{network}::2", 3),
        ):
            headers = {"X-Forwarded-For": claimed}
            assert left(call(visitor, STRICT, headers=headers)) == remaining


def test_a_plan_and_a_tier_do_not_share_a_window(app: Flask) -> None:
    visitor = app.test_client()
    bearer = make_account(app, plan="free").authorization
    assert left(visitor.get("/v1/account", headers=bearer)) == 59
    assert left(visitor.get("/api/health", headers=bearer)) == 59
    assert left(visitor.get("/v1/account", headers=bearer)) == 58


def test_nobody_has_60_requests_a_minute_and_a_key_from_there_its_own(app: Flask) -> None:
    visitor = app.test_client()
    bearer = make_account(app, plan="free").authorization
    guess = {"Authorization": "Bearer canopy_key_guess"}
    for used in range(1, 61):
        response = visitor.get("/v1/account", headers=guess if used % 2 else {})
        assert (response.status_code, left(response)) == (401, 60 - used)
    refused = visitor.get("/v1/account", headers=guess)
    assert (refused.status_code, left(refused)) == (429, 0)
    assert "Without a valid credential" in refused.json["error"]["message"]
    assert 50 <= int(refused.headers["Retry-After"]) <= 60
    assert visitor.get("/v1/auth/verify").status_code == 429
    welcome = visitor.get("/v1/account", headers=bearer)
    assert (welcome.status_code, left(welcome)) == (200, 59)
    assert left(app.test_client().get("/v1/account")) == 59


def test_guesses_at_an_unknown_address_count_and_show_nothing(app: Flask) -> None:
    visitor = app.test_client()
    guess = {"Authorization": "Bearer canopy_key_guess"}
    for path in ("/v1/x", "/v1/y"):
        response = visitor.get(path, headers=guess)
        assert (response.status_code, "X-RateLimit-Limit" in response.headers) == (404, False)
    assert left(visitor.get("/v1/account")) == 57


def test_nobody_at_an_unknown_address_is_not_counted(app: Flask) -> None:
    visitor = app.test_client()
    for method, path, status in (("GET", "/v1/x", 404), ("PUT", "/v1/projects", 405)):
        response = visitor.open(path, method=method)
        assert (response.status_code, "X-RateLimit-Limit" in response.headers) == (status, False)
    assert left(visitor.get("/v1/account")) == 59
