"""The shapes of answers and errors (docs/api-conventions.md, "Bodies and envelopes")."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.values import clock
from tests.make import Client, make_account, make_asset, make_project
from tests.make.apps import second_app

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
REQUEST_ID = r"req_[0-9a-hjkmnp-tv-z]{26}"


@pytest.mark.parametrize("kind", ["project", "asset", "account", "usage"])
def test_the_envelope_of_a_single_resource(client: Client, kind: str) -> None:
    project = f"/v1/projects/{make_project(client)['id']}"
    asset = f"{project}/assets/{make_asset(client, project.split('/')[3])['id']}"
    paths = {"project": project, "asset": asset, "account": "/v1/account"}
    response = client.get(paths.get(kind, "/v1/account/usage"))
    assert list(response.json) == ["data", "meta"]
    assert list(response.json["meta"]) == ["request_id", "timestamp"]
    assert response.json["meta"]["request_id"] == response.headers["X-Request-Id"]
    assert re.fullmatch(TIME, response.json["meta"]["timestamp"])


def test_the_envelope_of_a_page(client: Client) -> None:
    body = client.get("/v1/projects").json
    assert list(body) == ["data", "meta"]
    assert list(body["meta"]) == ["total", "page", "per_page", "total_pages"]


def test_the_envelope_of_an_error(client: Client) -> None:
    response = client.post("/v1/projects", json={"name": "", "x": 1})
    assert list(response.json) == ["error", "meta"]
    assert list(response.json["error"]) == ["code", "message", "details"]
    assert all(list(d) == ["field", "message"] for d in response.json["error"]["details"])
    assert response.json["meta"] == {"request_id": response.headers["X-Request-Id"]}


def test_answers_are_json_and_say_so(client: Client) -> None:
    for path in ("/v1/projects", "/v1/nothing", "/v1/auth/verify"):
        assert client.get(path).content_type == "application/json"


def test_every_problem_is_told_at_once(client: Client) -> None:
    body = {"name": "", "description": 1, "geometry": {"type": "Point"}, "status": "active"}
    details = client.post("/v1/projects", json=body).json["error"]["details"]
    assert {d["field"] for d in details} >= {"name", "description", "status"}
    assert all(d["message"] for d in details)


def test_a_fault_of_a_geometry_says_where_it_is(client: Client) -> None:
    """The path stops at geometry.coordinates; ring and position stand in the message."""
    ring = [[10, 50], [11, 50], [11, 51], [10, 50]]
    hole = [[10.5, 50.1], ["x", 50], [10.6, 50.2], [10.5, 50.1]]
    body = {"name": "A", "geometry": {"type": "Polygon", "coordinates": [ring, hole]}}
    (detail,) = client.post("/v1/projects", json=body).json["error"]["details"]
    assert detail["field"] == "geometry.coordinates"
    assert "ring 1, position 1" in detail["message"].lower()


@pytest.mark.parametrize("sent", ["x" * 8, "a-b_c-D_9", "0" * 64])
def test_a_request_id_that_is_sent_is_kept(client: Client, sent: str) -> None:
    response = client.get("/v1/account", headers={"X-Request-Id": sent})
    assert response.headers["X-Request-Id"] == sent
    assert response.json["meta"]["request_id"] == sent


@pytest.mark.parametrize(
    "sent", ["", "short12", "x" * 65, "with space", "umläute-x", "a;b<c>d!", "abcdefgh\t"]
)
def test_a_request_id_of_another_form_is_replaced(client: Client, sent: str) -> None:
    response = client.get("/v1/account", headers={"X-Request-Id": sent})
    assert re.fullmatch(REQUEST_ID, response.headers["X-Request-Id"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/projects"),
        ("GET", "/v1/nothing"),
        ("PATCH", "/v1/projects"),
        ("GET", "/nothing"),
        ("POST", "/api/health"),
        ("GET", "/healthz"),
        ("GET", "/v1/openapi.json"),
        ("HEAD", "/v1/projects"),
    ],
)
def test_every_answer_has_a_request_id_of_its_own(client: Client, method: str, path: str) -> None:
    ids = {client.send(method, path).headers["X-Request-Id"] for _ in range(2)}
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/api/nothing", 404, "NOT_FOUND"),
        ("POST", "/api/health", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/v1/nothing", 404, "NOT_FOUND"),
        ("POST", "/healthz", 405, "METHOD_NOT_ALLOWED"),
        ("PUT", "/docs", 405, "METHOD_NOT_ALLOWED"),
    ],
)
def test_errors_have_the_envelope_everywhere(
    client: Client, method: str, path: str, status: int, code: str
) -> None:
    response = client.nobody().send(method, path)
    assert response.status_code == status
    assert response.json["error"]["code"] == code
    assert response.json["error"]["details"] == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/v1/projects", {"GET", "HEAD", "POST"}),
        ("POST", "/v1/projects/x", {"GET", "HEAD", "PUT", "PATCH", "DELETE"}),
        ("GET", "/v1/projects/x/archive", {"POST"}),
        ("DELETE", "/v1/account", {"GET", "HEAD", "PUT", "PATCH"}),
    ],
)
def test_405_names_the_methods_that_are_allowed(
    client: Client, method: str, path: str, allowed: set[str]
) -> None:
    response = client.send(method, path)
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == allowed


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


def _statuses(client: Client) -> dict[str, Any]:
    project = make_project(client)
    path = f"/v1/projects/{project['id']}"
    asset = client.post(f"{path}/assets", json={"name": "A", "type": "x"})
    return {
        "create": asset,
        "list": client.get("/v1/projects"),
        "read": client.get(path),
        "update": client.put(path, json={}),
        "delete asset": client.delete(asset.headers["Location"]),
        "archive": client.post(f"{path}/archive"),
        "restore": client.post(f"{path}/restore"),
        "update account": client.put("/v1/account", json={}),
    }


def test_statuses_of_success(client: Client) -> None:
    """201 for what is created, 204 for what is deleted, 200 for the rest."""
    answers = {name: answer.status_code for name, answer in _statuses(client).items()}
    special = {"create": 201, "delete asset": 204}
    assert answers == dict.fromkeys(answers, 200) | special


def test_addresses_are_those_of_the_request_or_of_public_url(client: Client) -> None:
    headers = {"Authorization": f"Bearer {client.token}", "Host": "forest.test:8443"}
    made = client.app.test_client().post("/v1/projects", json={"name": "Elm"}, headers=headers)
    assert made.headers["Location"].startswith("http://forest.test:8443/v1/projects/proj_")
    public = {"public_url": "https://canopy.example.org/base", "public_url_is_set": True}
    with second_app(client.app, **public) as app:
        listed = app.test_client().get("/v1/projects?status=active", headers=headers)
    last = '<https://canopy.example.org/base/v1/projects?status=active&page=1>; rel="last"'
    assert listed.headers["Link"].endswith(last)
