"""/oauth/revoke and /oauth/introspect."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.policy.oauth_errors import Description
from app.security import tokens
from tests.make import Application, Client, make_application
from tests.make.oauth import ask_token, exchange, refresh
from tests.oauth.support import advance_clock, api_status, assert_error, code_of, tokens_of


def _revoke(client: Client, application: Application, token: str, **fields: str | None) -> None:
    response = ask_token(client.app, application, "/oauth/revoke", token=token, **fields)
    assert (response.status_code, response.json) == (200, {})
    assert response.headers["Cache-Control"] == "no-store"


def _introspect(client: Client, application: Application, token: str) -> dict:
    response = ask_token(client.app, application, "/oauth/introspect", token=token)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    return response.json


def test_revoking_an_access_token_revokes_only_it(client: Client, application: Application) -> None:
    response = tokens_of(client, application)
    _revoke(client, application, response["access_token"])
    assert api_status(client, response) == 401
    assert (
        api_status(client, refresh(client.app, application, response["refresh_token"]).json) == 200
    )


def test_revoking_a_refresh_token_revokes_the_family(
    client: Client, application: Application
) -> None:
    first = tokens_of(client, application)
    second = refresh(client.app, application, first["refresh_token"]).json
    _revoke(client, application, second["refresh_token"])
    for response in (first, second):
        assert api_status(client, response) == 401
        assert_error(refresh(client.app, application, response["refresh_token"]), "invalid_grant")


def test_a_wrong_hint_is_ignored(client: Client, application: Application) -> None:
    for hint in ("refresh_token", "id_token", ""):
        response = tokens_of(client, application)
        _revoke(client, application, response["access_token"], token_type_hint=hint)
        assert api_status(client, response) == 401, hint


def test_a_request_without_a_token_is_refused(client: Client, application: Application) -> None:
    for path in ("/oauth/revoke", "/oauth/introspect"):
        response = ask_token(client.app, application, path)
        assert_error(response, "invalid_request")
        assert response.json["error_description"] == Description.SUBJECT_MISSING


def test_revoking_an_unknown_token_succeeds(client: Client, application: Application) -> None:
    unknown = tokens.new_token(tokens.ACCESS_TOKEN)
    for token in ("x", "canopy_oat_x", unknown, "\u202e", "x" * 2_000):
        _revoke(client, application, token)
        assert _introspect(client, application, token) == {"active": False}


@pytest.mark.both
def test_revoking_twice_succeeds(client: Client, application: Application) -> None:
    response = tokens_of(client, application)
    for token in (response["access_token"], response["refresh_token"]):
        _revoke(client, application, token)
        _revoke(client, application, token)


def test_a_public_application_revokes_its_own(client: Client) -> None:
    public = make_application(client, public=True)
    response = tokens_of(client, public)
    _revoke(client, public, response["refresh_token"])
    assert api_status(client, response) == 401


def test_a_token_of_another_application_stays(
    client: Client, stranger: Client, application: Application
) -> None:
    answer = tokens_of(client, application)
    for other in (make_application(stranger), make_application(client, public=True)):
        for kind in ("access_token", "refresh_token"):
            response = ask_token(client.app, other, "/oauth/revoke", token=answer[kind])
            assert_error(response, "invalid_grant")
    assert api_status(client, answer) == 200
    assert refresh(client.app, application, answer["refresh_token"]).status_code == 200


def test_a_code_is_not_a_token(client: Client, application: Application) -> None:
    code = code_of(client, application)
    _revoke(client, application, code)
    assert _introspect(client, application, code) == {"active": False}
    assert exchange(client.app, application, code).status_code == 200


def test_introspection_of_an_access_token(client: Client, application: Application) -> None:
    response = tokens_of(client, application)
    found = _introspect(client, application, response["access_token"])
    assert found["exp"] - found["iat"] == 3600
    assert found == {
        "active": True,
        "scope": response["scope"],
        "client_id": application.id,
        "token_type": "Bearer",
        "exp": found["exp"],
        "iat": found["iat"],
        "sub": client.owner_id,
        "account_id": client.account_id,
    }


def test_introspection_of_a_refresh_token(client: Client, application: Application) -> None:
    response = tokens_of(client, application)
    found = _introspect(client, application, response["refresh_token"])
    assert found["active"] is True
    assert "token_type" not in found
    refresh(client.app, application, response["refresh_token"])
    assert _introspect(client, application, response["refresh_token"]) == {"active": False}


@pytest.mark.parametrize("how", ["expired", "revoked", "family", "anothers"])
def test_introspection_of_an_inactive_token_reveals_nothing(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    code = code_of(client, application)
    response = exchange(client.app, application, code).json
    asking = make_application(client) if how == "anothers" else application
    if how == "expired":
        advance_clock(monkeypatch, timedelta(days=31))
    elif how == "revoked":
        _revoke(client, application, response["access_token"])
        _revoke(client, application, response["refresh_token"])
    elif how == "family":
        exchange(client.app, application, code)
    for kind in ("access_token", "refresh_token"):
        assert _introspect(client, asking, response[kind]) == {"active": False}


def test_introspection_is_for_applications_with_a_secret(client: Client) -> None:
    public = make_application(client, public=True)
    token = tokens_of(client, public)["access_token"]
    response = ask_token(client.app, public, "/oauth/introspect", token=token)
    assert_error(response, "invalid_client", 401)
