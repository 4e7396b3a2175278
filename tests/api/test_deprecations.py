"""Responses to requests that use something deprecated, with a table of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from flask import Flask

from app.api.openapi.document import api_description
from app.policy import deprecations
from app.policy.deprecations import Deprecation
from tests.make import Client, make_account, make_project, second_app, square

LINK = 'http://localhost/docs#deprecations>; rel="deprecation"; type="text/html"'
TABLE = (
    Deprecation(
        "GET /v1/projects", "sort", "sorting",
        date(2026, 1, 1), date(2027, 1, 1), "Do not sort.",
    ),
    Deprecation(
        "GET /v1/projects", "order", "ordering",
        date(2025, 1, 1), date(2027, 6, 1), "Do not order.",
    ),
    Deprecation(
        "GET /v1/projects/{project_id}", "", "reading a project",
        date(2026, 1, 1), None, "Read the list.",
    ),
    Deprecation(
        "PUT /v1/projects/{project_id}", "description", "a description",
        date(2026, 1, 1), None, "Use metadata.",
    ),
)  # fmt: skip


@pytest.fixture
def deprecating(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """An application in which these things are deprecated."""
    monkeypatch.setattr(deprecations, "DEPRECATIONS", TABLE)
    with second_app(app) as made:
        yield made


@pytest.fixture
def caller(deprecating: Flask) -> Client:
    return make_account(deprecating)


def test_a_parameter_only_when_it_is_sent(caller: Client) -> None:
    plain = caller.get("/v1/projects").headers
    assert "Deprecation" not in plain
    assert 'rel="deprecation"' not in plain["Link"]
    sent = caller.get("/v1/projects?sort=name").headers
    assert sent["Deprecation"] == "@1767225600"
    assert sent["Sunset"] == "Fri, 01 Jan 2027 00:00:00 GMT"
    assert LINK in sent.getlist("Link")[-1]
    assert any('rel="first"' in each for each in sent.getlist("Link"))


@pytest.mark.slow
def test_of_several_the_earliest(caller: Client) -> None:
    sent = caller.get("/v1/projects?sort=name&order=asc").headers
    assert (sent["Deprecation"], sent["Sunset"]) == (
        "@1735689600",
        "Fri, 01 Jan 2027 00:00:00 GMT",
    )


def test_an_operation_always_and_without_a_sunset_as_long_as_none_is_decided(
    caller: Client,
) -> None:
    project = make_project(caller)
    sent = caller.get(f"/v1/projects/{project['id']}").headers
    assert sent["Deprecation"] == "@1767225600"
    assert "Sunset" not in sent
    assert "Deprecation" in caller.get("/v1/projects/proj_x").headers  # 404


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_field_of_the_body_also_in_a_refusal(caller: Client, method: str) -> None:
    path = f"/v1/projects/{make_project(caller)['id']}"
    assert "Deprecation" not in caller.send(method, path, json={"name": "A"}).headers
    assert "Deprecation" in caller.send(method, path, json={"description": "B"}).headers
    refused = caller.send(method, path, json={"description": 5})
    assert refused.status_code == 422
    assert "Deprecation" in refused.headers


def test_a_field_of_the_body_is_not_sent_in_the_query(caller: Client) -> None:
    path = f"/v1/projects/{make_project(caller)['id']}?description=B"
    refused = caller.put(path, json={"name": "A"})
    assert refused.status_code == 400
    assert "Deprecation" not in refused.headers


def test_the_description(deprecating: Flask) -> None:
    with deprecating.app_context():
        paths = api_description()["paths"]
    (sort,) = (p for p in paths["/v1/projects"]["get"]["parameters"] if p.get("name") == "sort")
    assert (sort["deprecated"], sort["x-sunset"]) == (True, "2027-01-01")
    assert paths["/v1/projects/{project_id}"]["get"]["deprecated"] is True
    assert "deprecated" not in paths["/v1/projects/{project_id}"]["put"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "it",
    [
        Deprecation("GET /v1/nothing", "", "", date(2026, 1, 1), None, ""),
        Deprecation("GET /v1/projects", "nothing", "", date(2026, 1, 1), None, ""),
    ],
)
def test_what_there_is_not_cannot_be_deprecated(
    app: Flask, it: Deprecation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (it,))
    with second_app(app) as made, made.app_context(), pytest.raises(LookupError):
        api_description()


def test_a_bare_geometry_is_deprecated_and_works(client: Client) -> None:
    plain = client.post("/v1/geometry/validate", json={"geometry": square()})
    bare = client.post("/v1/geometry/validate", json=square())
    assert plain.json["data"] == bare.json["data"]
    assert "Deprecation" not in plain.headers
    assert bare.headers["Deprecation"] == "@1795305600"
    assert "Sunset" not in bare.headers
