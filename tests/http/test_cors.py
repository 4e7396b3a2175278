"""Pages of other origins: which may call, what they may send, and what they may read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.http.errors import ApiError
from tests.architecture.documents import error_classes
from tests.make import Client, make_account
from tests.make.apps import bare_app

NAMED, OTHER = "https://app.example.org", "https://evil.example"
CORS = {
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Credentials",
    "Access-Control-Expose-Headers",
    "Access-Control-Max-Age",
}
EXPOSED = {
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"),
    *("ETag", "Link", "Location", "X-Request-Id", "Idempotency-Replayed", "Content-Crs"),
    "Content-Disposition",
    "Deprecation",
    *("Sunset", "WWW-Authenticate"),
}
ACCEPTED = {
    *("Authorization", "Content-Type", "Content-Crs", "Idempotency-Key", "X-Api-Key"),
    *("If-Match", "If-None-Match", "X-Request-Id"),
}


def _refuse(name: str) -> None:
    error = ApiError.__new__(error_classes()[name])
    ApiError.__init__(error)
    raise error


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Client]:
    """A caller of an application that two origins may call."""
    folder, origins = tmp_path_factory.mktemp("cors"), f"{NAMED}, http://localhost:5173"
    with bare_app(folder, REDIS_URL=valkey_url, CORS_ORIGINS=origins) as made:
        made.add_url_rule("/v1/refuse/<name>", view_func=_refuse)
        yield make_account(made)


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Flask]:
    with bare_app(tmp_path) as made:
        yield made


def _ask(app: Flask, path: str, *, origin: str = NAMED, method: str = "PUT") -> TestResponse:
    """What a browser asks before it sends a request of a page."""
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    return app.test_client().options(path, headers=headers)


def _list(response: TestResponse, name: str) -> set[str]:
    return set(response.headers[name].split(", "))


def _sent(response: TestResponse) -> set[str]:
    return {name for name, _ in response.headers} & CORS


def test_a_named_origin_may_read_an_answer(named: Client) -> None:
    for origin in [NAMED, "http://localhost:5173"]:
        response = named.get("/v1/projects", headers={"Origin": origin})
        assert response.status_code == 200
        assert response.headers.getlist("Access-Control-Allow-Origin") == [origin]
        assert _list(response, "Access-Control-Expose-Headers") == EXPOSED
        assert "Origin" in _list(response, "Vary")
        assert "Access-Control-Allow-Credentials" not in response.headers


def test_no_other_origin_may(named: Client) -> None:
    for origin in [
        *(OTHER, "null", "", "*", "https://app.example.org.evil.example", "https://app.example"),
        *("http://app.example.org", "https://app.example.org:8443", "https://app.example.org/"),
        *("https://appXexample.org", "https://sub.app.example.org", f"{NAMED}, {OTHER}"),
    ]:
        response = named.get("/v1/projects", headers={"Origin": origin})
        assert response.status_code == 200
        assert _sent(response) == set()
        assert "Origin" in _list(response, "Vary")  # else a cache gives this to a named one
        assert _sent(_ask(named.app, "/v1/projects", origin=origin)) == set()


def test_without_an_origin_there_is_nothing_to_say(named: Client) -> None:
    response = named.get("/v1/projects")
    assert _sent(response) == set()
    assert "Origin" in _list(response, "Vary")


def test_a_refusal_can_be_read_too(named: Client) -> None:
    for name in [*error_classes(), "unknown"]:
        caller = named.app.test_client()
        response = caller.get(f"/v1/refuse/{name}", headers={"Origin": NAMED})
        assert response.status_code >= 400
        assert response.headers["Access-Control-Allow-Origin"] == NAMED
        assert _list(response, "Access-Control-Expose-Headers") == EXPOSED


def test_whoever_asks_can_read_what_the_answer_is(named: Client) -> None:
    for method, path, status in [
        ("GET", "/v1/nothing", 404),
        ("PATCH", "/v1/projects", 405),
        ("GET", "/v1/projects", 401),
        ("GET", "/api/health", 200),
        ("GET", "/api/nothing", 404),
        ("GET", "/v1/openapi.json", 200),
    ]:
        response = named.nobody().send(method, path, headers={"Origin": NAMED})
        assert response.status_code == status
        assert response.headers["Access-Control-Allow-Origin"] == NAMED


def test_pages_are_not_opened(named: Client) -> None:
    for path in ["/docs", "/healthz", "/metrics", "/oauth/introspect", "/", "/v1"]:
        response = named.app.test_client().get(path, headers={"Origin": NAMED})
        assert _sent(response) == set()
        assert "Origin" not in response.headers.get("Vary", "")
        assert _ask(named.app, path).status_code in (404, 405)


def test_the_question_beforehand_is_answered(named: Client) -> None:
    for path, methods in [
        ("/v1/projects", {"GET", "HEAD", "POST"}),
        ("/ogc", {"GET", "HEAD"}),
        (
            "/ogc/collections/projects/items/x",
            {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
        ),
        ("/v1/projects/unknown", {"GET", "HEAD", "PUT", "PATCH", "DELETE"}),
        ("/v1/projects/unknown/archive", {"POST"}),
        ("/v1/auth/verify", {"GET", "HEAD"}),
        ("/v1/nothing", {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}),
        ("/api/health", {"GET", "HEAD"}),
    ]:
        response = _ask(named.app, path)
        assert (response.status_code, response.get_data()) == (204, b"")
        assert response.headers["Access-Control-Allow-Origin"] == NAMED
        assert _list(response, "Access-Control-Allow-Methods") == methods
        assert _list(response, "Access-Control-Allow-Headers") == ACCEPTED
        assert int(response.headers["Access-Control-Max-Age"]) >= 600
        assert "Origin" in _list(response, "Vary")
        assert "Content-Type" not in response.headers
        assert "X-Request-Id" in response.headers


def test_the_question_is_not_counted_limited_or_authenticated(named: Client) -> None:
    def counted() -> int:
        return int(named.get("/v1/account/usage").json["data"]["api_requests"]["current"])

    first, second = counted(), counted()
    for token in (named.token, "junk"):
        headers = {
            "Origin": NAMED,
            "Access-Control-Request-Method": "GET",
            "Authorization": f"Bearer {token}",
        }
        response = named.app.test_client().options("/v1/projects", headers=headers)
        assert response.status_code == 204
        assert not [name for name, _ in response.headers if name.startswith("X-RateLimit")]
    assert counted() - second == second - first


def test_a_question_of_another_kind_is_refused_as_before(named: Client) -> None:
    caller = named.app.test_client()
    for headers in ({}, {"Origin": NAMED}, {"Access-Control-Request-Method": "GET"}):
        response = caller.options("/v1/projects", headers=headers)
        assert response.status_code == 405
        assert "Access-Control-Allow-Methods" not in response.headers


def test_any_origin_can_be_named(tmp_path: Path) -> None:
    with bare_app(tmp_path, CORS_ORIGINS="*") as made:
        response = made.test_client().get("/v1/openapi.json", headers={"Origin": OTHER})
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response.headers
        assert _ask(made, "/v1/projects", origin="null").status_code == 204


def test_without_the_setting_there_is_none_of_it(closed: Flask) -> None:
    caller = closed.test_client()
    for path in ("/v1/openapi.json", "/v1/nothing", "/docs"):
        response = caller.get(path, headers={"Origin": NAMED})
        assert _sent(response) == set()
        assert "Origin" not in response.headers.get("Vary", "")
    response = _ask(closed, "/v1/projects")
    assert response.status_code == 405
    assert _sent(response) == set()
