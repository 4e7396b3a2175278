"""The shapes of answers and errors (docs/api-conventions.md, "Bodies and envelopes")."""

from __future__ import annotations

import logging
import re

import pytest
from flask import Flask

from app.db.extensions import db
from app.values import clock
from tests.make import Client, make_account, make_asset, make_project
from tests.make.apps import second_app

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
REQUEST_ID = r"req_[0-9a-hjkmnp-tv-z]{26}"


def test_the_envelopes_of_a_resource_and_of_a_page(client: Client) -> None:
    project = f"/v1/projects/{make_project(client)['id']}"
    asset = f"{project}/assets/{make_asset(client, project.split('/')[3])['id']}"
    for path in (project, asset, "/v1/account", "/v1/account/usage"):
        response = client.get(path)
        assert response.content_type == "application/json"
        assert list(response.json) == ["data", "meta"]
        assert list(response.json["meta"]) == ["request_id", "timestamp"]
        assert response.json["meta"]["request_id"] == response.headers["X-Request-Id"]
        assert re.fullmatch(TIME, response.json["meta"]["timestamp"])
    page = client.get("/v1/projects").json
    assert list(page) == ["data", "meta"]
    assert list(page["meta"]) == ["total", "page", "per_page", "total_pages"]


def test_the_envelope_of_an_error(client: Client) -> None:
    response = client.post("/v1/projects", json={"name": "", "x": 1})
    assert list(response.json) == ["error", "meta"]
    assert list(response.json["error"]) == ["code", "message", "details"]
    assert all(list(d) == ["field", "message", "code"] for d in response.json["error"]["details"])
    assert response.json["meta"] == {"request_id": response.headers["X-Request-Id"]}


def test_a_request_id_that_is_sent_is_kept(client: Client) -> None:
    for sent in ("x" * 8, "a-b_c-D_9", "0" * 64):
        response = client.get("/v1/account", headers={"X-Request-Id": sent})
        assert response.headers["X-Request-Id"] == sent
        assert response.json["meta"]["request_id"] == sent


def test_a_request_id_of_another_form_is_replaced(client: Client) -> None:
    for sent in ("", "short12", "x" * 65, "with space", "umläute-x", "a;b<c>d!", "abcdefgh\t"):
        response = client.get("/v1/account", headers={"X-Request-Id": sent})
        assert re.fullmatch(REQUEST_ID, response.headers["X-Request-Id"]), sent


def test_every_answer_has_a_request_id_of_its_own(client: Client) -> None:
    for method, path in (
        ("GET", "/v1/projects"),
        ("PATCH", "/v1/projects"),
        ("GET", "/nothing"),
        ("GET", "/healthz"),
        ("HEAD", "/v1/projects"),
    ):
        ids = {client.send(method, path).headers["X-Request-Id"] for _ in range(2)}
        assert len(ids) == 2


def test_errors_have_the_envelope_everywhere(client: Client) -> None:
    for method, path, status, code in (
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/api/nothing", 404, "NOT_FOUND"),
        ("POST", "/api/health", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/v1/nothing", 404, "NOT_FOUND"),
        ("POST", "/healthz", 405, "METHOD_NOT_ALLOWED"),
        ("PUT", "/docs", 405, "METHOD_NOT_ALLOWED"),
    ):
        response = client.nobody().send(method, path)
        assert response.status_code == status, path
        assert response.json["error"]["code"] == code
        assert response.json["error"]["details"] == []


def test_405_names_the_methods_that_are_allowed(client: Client) -> None:
    response = client.send("POST", "/v1/projects/x")
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "PUT", "PATCH", "DELETE"}


@pytest.mark.provokes(500)
def test_an_unforeseen_fault_is_500_and_tells_nothing(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = make_account(app)

    def fail() -> None:
        raise RuntimeError("the secret of the database")

    monkeypatch.setattr(db.session, "commit", fail)
    with caplog.at_level(logging.ERROR):
        response = client.post("/v1/projects", json={"name": "A"})
    assert response.status_code == 500
    assert response.json["error"]["code"] == "INTERNAL_ERROR"
    assert "secret" not in response.get_data(as_text=True)
    assert "the secret of the database" in caplog.text
    monkeypatch.undo()
    assert client.get("/v1/projects").json["meta"]["total"] == 0


def test_a_moment_is_shown_in_utc(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = clock.parse_time("2026-01-02T03:04:05.670+02:00")
    monkeypatch.setattr(clock, "now", lambda: moment)
    assert make_project(client)["created_at"] == "2026-01-02T01:04:05.670Z"


def test_addresses_are_those_of_the_request_or_of_public_url(client: Client) -> None:
    headers = {"Authorization": f"Bearer {client.token}", "Host": "forest.test:8443"}
    made = client.app.test_client().post("/v1/projects", json={"name": "Elm"}, headers=headers)
    assert made.headers["Location"].startswith("http://forest.test:8443/v1/projects/proj_")
    public = {"public_url": "https://canopy.example.org/base", "public_url_is_set": True}
    with second_app(client.app, **public) as app:
        listed = app.test_client().get("/v1/projects?status=active", headers=headers)
    last = '<https://canopy.example.org/base/v1/projects?status=active&page=1>; rel="last"'
    assert listed.headers["Link"].endswith(last)
