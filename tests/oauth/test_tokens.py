"""Exchanging codes for access tokens: responses, lifetimes and reuse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.policy.oauth import (
    ACCESS_TOKEN_LIFE,
    CODE_LIFE,
)
from app.values import clock
from tests.make import Application, Client, bearer, make_project
from tests.make.oauth import exchange, refresh
from tests.oauth.support import (
    OFFLINE,
    advance_clock,
    api_status,
    assert_error,
    code_of,
    rows,
    tokens_of,
)

SECOND = timedelta(seconds=1)


def test_token_response_conforms_to_the_specification(
    client: Client, application: Application
) -> None:
    response = exchange(client.app, application, code_of(client, application))
    assert response.status_code == 200
    assert set(response.json) == {
        *("access_token", "token_type", "expires_in", "scope", "refresh_token")
    }
    assert response.json["token_type"] == "Bearer"
    assert response.json["expires_in"] == 3600
    assert response.json["access_token"].startswith("canopy_oat_")
    assert response.json["refresh_token"].startswith("canopy_ort_")
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Type"] == "application/json"


def test_expires_in_is_an_hour_also_without_a_refresh_token(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The authorization then expires with its access token, to the millisecond."""
    code = code_of(client, application, scope="profile")
    advance_clock(monkeypatch, CODE_LIFE - SECOND)
    response = exchange(client.app, application, code).json
    assert response["expires_in"] == 3600
    assert "refresh_token" not in response


def test_an_access_token_allows_its_scopes(client: Client, application: Application) -> None:
    project = make_project(client)
    caller = bearer(client, tokens_of(client, application)["access_token"])
    assert caller.get("/v1/projects").json["data"][0]["id"] == project["id"]
    response = caller.put(f"/v1/projects/{project['id']}", json={"name": "B"})
    assert response.status_code == 403
    assert "scope projects:write" in response.json["error"]["message"]


def test_the_response_names_the_scopes(client: Client, application: Application) -> None:
    for requested, given in (
        ("profile profile", "profile"),
        (" profile  projects:read ", "profile projects:read"),
    ):
        code = code_of(client, application, scope=requested)
        assert exchange(client.app, application, code).json["scope"] == given


def test_only_hashes_are_stored(client: Client, application: Application) -> None:
    code = code_of(client, application)
    response = exchange(client.app, application, code).json
    refresh(client.app, application, response["refresh_token"])
    stored = [
        str(row)
        for table in ("oauth_tokens", "oauth_authorizations", "oauth_applications")
        for row in rows(client, f"SELECT * FROM {table}")
    ]
    secrets = (code, response["access_token"], response["refresh_token"], application.secret or "")
    assert not [secret for secret in secrets if any(secret in row for row in stored)]


# Codes.


def test_a_code_is_valid_for_five_minutes(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age, status in ((CODE_LIFE - SECOND, 200), (CODE_LIFE, 400)):
        moment = clock.now()
        monkeypatch.setattr(clock, "now", lambda moment=moment: moment)
        code = code_of(client, application)
        advance_clock(monkeypatch, age)
        assert exchange(client.app, application, code).status_code == status


@pytest.mark.parametrize("after", [timedelta(0), timedelta(minutes=50)])
def test_reusing_a_code_revokes_its_tokens(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch, after: timedelta
) -> None:
    code = code_of(client, application)
    first = exchange(client.app, application, code).json
    assert api_status(client, first) == 200
    advance_clock(monkeypatch, after)
    assert_error(exchange(client.app, application, code), "invalid_grant")
    assert api_status(client, first) == 401
    assert_error(refresh(client.app, application, first["refresh_token"]), "invalid_grant")


def test_reusing_a_code_revokes_refreshed_tokens_too(
    client: Client, application: Application
) -> None:
    code = code_of(client, application)
    first = exchange(client.app, application, code).json
    second = refresh(client.app, application, first["refresh_token"]).json
    exchange(client.app, application, code)
    assert api_status(client, second) == 401
    assert_error(refresh(client.app, application, second["refresh_token"]), "invalid_grant")


# Access tokens.


@pytest.mark.both
def test_an_access_token_is_valid_for_an_hour(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    responses = [tokens_of(client, application, each) for each in (OFFLINE, ("projects:read",))]
    advance_clock(monkeypatch, ACCESS_TOKEN_LIFE - 30 * SECOND)
    assert [api_status(client, response) for response in responses] == [200, 200]
    advance_clock(monkeypatch, 31 * SECOND)
    assert [api_status(client, response) for response in responses] == [401, 401]
