"""What the client of the tests refuses in an answer."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.db import queries
from tests.contract import check_contract
from tests.make import Client, make_project

FAULTS = {500: ZeroDivisionError(), 503: OperationalError("SELECT", {}, Exception("gone"))}


def _fail(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    def fail() -> None:
        raise FAULTS[status]

    monkeypatch.setattr(queries, "reading_engine", fail)


@pytest.mark.provokes(503)
def test_a_fault_that_is_not_provoked_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fail(monkeypatch, 503)
    answer = client.get("/v1/account")
    del answer.headers["Retry-After"]
    with pytest.raises(AssertionError, match="Retry-After"):
        check_contract(client.app, answer)
    _fail(monkeypatch, 500)
    for path in ("/v1/account", "/v1/projects?page=2"):
        with pytest.raises(AssertionError, match="500 was not provoked"):
            client.get(path)


def _answer(client: Client, request: str) -> TestResponse:
    method, path, *_ = request.split()
    project = make_project(client)
    body: Any = {"name": f"{project['name']} too"} if method in ("POST", "PUT") else None
    caller = client.nobody() if "nobody" in request else client
    headers = {"If-None-Match": "*"} if "known" in request else {}
    return caller.send(method, path.format(project["id"]), json=body, headers=headers)


HEADERS = {
    "GET /v1/account": "ETag Cache-Control X-Request-Id",
    "HEAD /v1/projects": "ETag Cache-Control Link X-Request-Id",
    "GET /v1/projects known": "ETag Link X-Request-Id",
    "GET /v1/projects/{} known": "ETag X-Request-Id",
    "POST /v1/projects": "Location ETag X-Request-Id",
    "GET /v1/account nobody": "WWW-Authenticate X-Request-Id",
    "PUT /docs": "Allow",
    "GET /healthz": "X-Request-Id",
}


def test_an_answer_without_a_header_that_belongs_to_it_is_refused(
    client: Client, subtests: pytest.Subtests
) -> None:
    for request, headers in HEADERS.items():
        answer = _answer(client, request)
        check_contract(client.app, answer)
        for name in headers.split():
            value = answer.headers.pop(name)
            with (
                subtests.test(f"{request}: {name}"),
                pytest.raises(AssertionError, match=f"(?i){name}"),
            ):
                check_contract(client.app, answer)
            answer.headers[name] = value


def test_what_is_not_described_is_refused(client: Client) -> None:
    answer = client.get("/v1/account")
    answer.headers["X-Other"] = "1"
    with pytest.raises(AssertionError, match="x-other"):
        check_contract(client.app, answer)
    del answer.headers["X-Other"]
    answer.status_code = 202
    with pytest.raises(AssertionError, match="202 is not documented"):
        check_contract(client.app, answer)


def test_a_body_that_does_not_fit_is_refused(client: Client) -> None:
    answer = client.get("/v1/account")
    answer.set_data(answer.get_data().replace(b'"plan"', b'"plans"'))
    with pytest.raises(AssertionError, match="plan"):
        check_contract(client.app, answer)
