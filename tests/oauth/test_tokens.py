"""Codes for access tokens: what is given, for how long, and how often."""

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
    code_of,
    later,
    refused,
    rows,
    status_with,
    tokens_of,
)

SECOND = timedelta(seconds=1)


def test_a_code_gives_what_the_specification_says(client: Client, application: Application) -> None:
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
    """The authorization ends with its access token then, to the millisecond."""
    code = code_of(client, application, scope="profile")
    later(monkeypatch, CODE_LIFE - SECOND)
    answer = exchange(client.app, application, code).json
    assert answer["expires_in"] == 3600
    assert "refresh_token" not in answer


def test_an_access_token_opens_what_its_scopes_say(
    client: Client, application: Application
) -> None:
    project = make_project(client)
    caller = bearer(client, tokens_of(client, application)["access_token"])
    assert caller.get("/v1/projects").json["data"][0]["id"] == project["id"]
    response = caller.put(f"/v1/projects/{project['id']}", json={"name": "B"})
    assert response.status_code == 403
    assert "scope projects:write" in response.json["error"]["message"]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("profile", "profile"),
        ("projects:read profile", "profile projects:read"),
        ("profile profile", "profile"),
        (" profile  projects:read ", "profile projects:read"),
    ],
)
def test_the_answer_says_which_scopes(
    client: Client, application: Application, asked: str, given: str
) -> None:
    code = code_of(client, application, scope=asked)
    assert exchange(client.app, application, code).json["scope"] == given


def test_nothing_is_kept_as_it_was_given(client: Client, application: Application) -> None:
    code = code_of(client, application)
    answer = exchange(client.app, application, code).json
    refresh(client.app, application, answer["refresh_token"])
    kept = [
        str(row)
        for table in ("oauth_tokens", "oauth_authorizations", "oauth_applications")
        for row in rows(client, f"SELECT * FROM {table}")
    ]
    secrets = (code, answer["access_token"], answer["refresh_token"], application.secret or "")
    assert not [secret for secret in secrets if any(secret in row for row in kept)]


# Codes.


@pytest.mark.parametrize(("age", "status"), [(CODE_LIFE - SECOND, 200), (CODE_LIFE, 400)])
def test_a_code_is_good_for_five_minutes(
    client: Client,
    application: Application,
    monkeypatch: pytest.MonkeyPatch,
    age: timedelta,
    status: int,
) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    code = code_of(client, application)
    later(monkeypatch, age)
    assert exchange(client.app, application, code).status_code == status


@pytest.mark.parametrize("after", [timedelta(0), SECOND, CODE_LIFE + SECOND, timedelta(minutes=50)])
def test_a_second_use_of_a_code_ends_what_the_first_gave(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch, after: timedelta
) -> None:
    code = code_of(client, application)
    first = exchange(client.app, application, code).json
    assert status_with(client, first) == 200
    later(monkeypatch, after)
    refused(exchange(client.app, application, code), "invalid_grant")
    assert status_with(client, first) == 401
    refused(refresh(client.app, application, first["refresh_token"]), "invalid_grant")


def test_a_second_use_ends_what_was_refreshed_since_too(
    client: Client, application: Application
) -> None:
    code = code_of(client, application)
    first = exchange(client.app, application, code).json
    second = refresh(client.app, application, first["refresh_token"]).json
    exchange(client.app, application, code)
    assert status_with(client, second) == 401
    refused(refresh(client.app, application, second["refresh_token"]), "invalid_grant")


def test_a_second_use_ends_nothing_else(client: Client, application: Application) -> None:
    other = tokens_of(client, application)
    code = code_of(client, application)
    exchange(client.app, application, code)
    exchange(client.app, application, code)
    assert status_with(client, other) == 200


# Access tokens.


@pytest.mark.parametrize(
    ("age", "status"), [(ACCESS_TOKEN_LIFE - SECOND, 200), (ACCESS_TOKEN_LIFE + SECOND, 401)]
)
@pytest.mark.parametrize("scopes", [OFFLINE, ("projects:read",)])
def test_an_access_token_is_good_for_an_hour(
    client: Client,
    application: Application,
    monkeypatch: pytest.MonkeyPatch,
    age: timedelta,
    status: int,
    scopes: tuple[str, ...],
) -> None:
    answer = tokens_of(client, application, scopes)
    later(monkeypatch, age)
    assert status_with(client, answer) == status
