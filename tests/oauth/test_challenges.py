"""The challenge of a 403: it names the scope that an OAuth token lacks (RFC 6750, section 3), and
only where a wider consent would help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.auth.guard import ANY_CREDENTIAL, OR
from app.policy.permissions import SCOPES, expand_permissions
from tests.make import Application, Client, bearer, grant_tokens, make_key, make_member
from tests.oauth.support import tokens_of

METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}


def challenge_for(scope: str) -> str:
    return f'Bearer realm="canopy", error="insufficient_scope", scope="{scope}"'


def code_of(response: TestResponse) -> str:
    (detail,) = response.json["error"]["details"]
    return str(detail["code"])


def guarded_routes(app: Flask) -> Iterator[tuple[str, str, str]]:
    """(method, path with unknown ids, permission) of every route that declares a permission."""
    for rule in app.url_map.iter_rules():
        needs = getattr(app.view_functions[rule.endpoint], "permission", ANY_CREDENTIAL)
        if needs != ANY_CREDENTIAL:
            path = re.sub(r"<[^>]+>", "unknown", rule.rule)
            yield from ((method, path, needs) for method in METHODS & (rule.methods or set()))


def without(needs: str, names: Sequence[str]) -> list[str]:
    """These scopes or permissions but for those that include what is needed."""
    return [name for name in names if not {name, *expand_permissions([name])} & {*needs.split(OR)}]


def test_every_route_names_the_scope_that_a_token_lacks(
    client: Client, application: Application, subtests: pytest.Subtests
) -> None:
    routes = [*guarded_routes(client.app)]
    assert {path.split("/")[1] for _, path, _ in routes} == {"v1", "ogc"}
    tokens = {
        needs: tokens_of(client, application, tuple(without(needs, [*SCOPES])))["access_token"]
        for needs in {needs for *_, needs in routes}
    }
    for method, path, needs in routes:
        scope = needs.split(OR)[0]
        with subtests.test(f"{method} {path}"):
            response = bearer(client, tokens[needs]).send(method, path)
            assert response.status_code == 403
            expected = challenge_for(scope) if scope in SCOPES else None
            assert response.headers.get("WWW-Authenticate") == expected
            assert code_of(response) == ("missing_scope" if expected else "missing_permission")
            told = "lacks the scope {}." if expected else "{}, which OAuth tokens cannot have."
            assert told.format(needs) in response.json["error"]["message"]


def test_a_key_or_a_role_that_lacks_a_permission_gets_no_challenge(
    client: Client, application: Application, subtests: pytest.Subtests
) -> None:
    """Also not a viewer whose token lacks the scope as well, as consent would not help."""
    viewer, key = make_member(client, "viewer"), make_key(client, permissions=["assets:read"])
    tokens = [
        grant_tokens(client.app, application, viewer.id, client.account_id, scopes)
        for scopes in ((*SCOPES,), ("profile",))
    ]
    writers = [bearer(client, each["access_token"]) for each in tokens]
    for who, method, path in (
        (key, "GET", "/v1/projects"),
        (key, "GET", "/ogc/collections/projects/items"),
        *((writer, "POST", "/v1/projects") for writer in writers),
        *((writer, "POST", "/ogc/collections/projects/items") for writer in writers),
    ):
        with subtests.test(f"{method} {path} {who.token}"):
            response = who.send(method, path, json={"name": "A"} if method == "POST" else None)
            assert response.status_code == 403
            assert "WWW-Authenticate" not in response.headers
            assert code_of(response) == ("missing_permission" if who is key else "role")
    assert "The person" in writers[1].post("/v1/projects", json={}).json["error"]["message"]


def test_what_else_a_request_needs_is_named_as_well(
    client: Client, application: Application
) -> None:
    reader, writer = (
        bearer(client, tokens_of(client, application, (scope,))["access_token"])
        for scope in ("projects:read", "projects:write")
    )

    def scope_of(response: TestResponse) -> str | None:
        assert response.status_code == 403
        return response.headers.get("WWW-Authenticate")

    def upload(**fields: str) -> TestResponse:
        file = (BytesIO(b"{}"), "a.geojson")
        return writer.post("/v1/imports", data={"file": file, **fields})

    assert scope_of(reader.get("/v1/eudr?points=true")) == challenge_for("assets:read")
    points = "/v1/exports/projects?format=eudr&points=true"
    assert scope_of(reader.get(points)) == challenge_for("assets:read")
    assert scope_of(upload(kind="assets")) == challenge_for("assets:write")
    more = upload(kind="projects", points_as_plots="true")
    assert scope_of(more) == challenge_for("assets:write")
