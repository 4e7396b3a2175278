"""Refresh tokens: rotation, lifetimes and reuse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.oauth.issuing import find_token
from app.policy.oauth import (
    AUTHORIZATION_LIFE,
    REFRESH_GRACE,
    REFRESH_TOKEN_IDLE,
)
from app.values import clock
from tests.make import Application, Client
from tests.make.oauth import refresh
from tests.oauth.support import (
    advance_clock,
    api_status,
    assert_error,
    rows,
    tokens_of,
)

SECOND = timedelta(seconds=1)


def test_a_refresh_token_gives_new_tokens(client: Client, application: Application) -> None:
    first = tokens_of(client, application)
    response = refresh(client.app, application, first["refresh_token"])
    assert response.status_code == 200
    assert response.json["expires_in"] == 3600
    assert response.json["scope"] == first["scope"]
    assert response.json["access_token"] != first["access_token"]
    assert response.json["refresh_token"] != first["refresh_token"]
    assert api_status(client, response.json) == 200
    assert api_status(client, first) == 200  # its hour is not over


def test_reuse_within_the_grace_gets_the_same_response(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    first = refresh(client.app, application, old)
    advance_clock(monkeypatch, REFRESH_GRACE - SECOND)
    second = refresh(client.app, application, old)
    assert second.get_data() == first.get_data()
    third = refresh(client.app, application, first.json["refresh_token"])
    assert third.status_code == 200
    assert refresh(client.app, application, old).get_data() == first.get_data()


@pytest.mark.both
@pytest.mark.parametrize("after", [REFRESH_GRACE, timedelta(hours=20)])
def test_a_repeat_whose_response_nobody_used_gets_new_tokens(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch, after: timedelta
) -> None:
    """A laptop slept before the response came."""
    old = tokens_of(client, application)
    lost = refresh(client.app, application, old["refresh_token"]).json
    api_status(client, old)  # the former access token may still be used
    advance_clock(monkeypatch, after)
    again = refresh(client.app, application, old["refresh_token"])
    assert again.status_code == 200
    assert again.json["refresh_token"] != lost["refresh_token"]
    assert api_status(client, again.json) == 200
    assert api_status(client, lost) == 401
    repeated = refresh(client.app, application, old["refresh_token"])
    assert repeated.get_data() == again.get_data()
    assert refresh(client.app, application, again.json["refresh_token"]).status_code == 200


@pytest.mark.both
@pytest.mark.parametrize("use", ["refresh_token", "access_token"])
def test_reuse_after_the_response_was_used_revokes_the_family(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    successor = refresh(client.app, application, old).json
    if use == "access_token":
        assert api_status(client, successor) == 200
    else:
        successor = refresh(client.app, application, successor["refresh_token"]).json
    advance_clock(monkeypatch, REFRESH_GRACE)
    assert_error(refresh(client.app, application, old), "invalid_grant")
    assert api_status(client, successor) == 401
    assert_error(refresh(client.app, application, successor["refresh_token"]), "invalid_grant")
    assert_error(refresh(client.app, application, old), "invalid_grant")


def test_the_tokens_of_a_response_that_was_replaced_revoke_the_family(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then two have the tokens, and one of them has stolen them."""
    old = tokens_of(client, application)["refresh_token"]
    first = refresh(client.app, application, old).json
    advance_clock(monkeypatch, REFRESH_GRACE)
    second = refresh(client.app, application, old).json
    assert_error(refresh(client.app, application, first["refresh_token"]), "invalid_grant")
    assert api_status(client, second) == 401
    assert_error(refresh(client.app, application, second["refresh_token"]), "invalid_grant")


def test_reuse_revokes_the_family_long_after(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = current = tokens_of(client, application)["refresh_token"]
    for _ in range(3):
        advance_clock(monkeypatch, timedelta(days=20))
        response = refresh(client.app, application, current).json
        current = response["refresh_token"]
    assert_error(refresh(client.app, application, old), "invalid_grant")
    assert api_status(client, response) == 401


@pytest.mark.both
def test_the_stored_response_is_encrypted_and_wiped(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = "SELECT sealed_successor FROM oauth_tokens WHERE sealed_successor IS NOT NULL"
    before = len(rows(client, statement))
    old = tokens_of(client, application)["refresh_token"]
    response = refresh(client.app, application, old).json
    stored = rows(client, statement)
    assert len(stored) == before + 1
    assert not [row for row in stored if response["access_token"] in row[0]]
    advance_clock(monkeypatch, REFRESH_GRACE)
    refresh(client.app, application, response["refresh_token"])
    with client.app.app_context():
        token_hash = find_token(old).token_hash
    found = "SELECT sealed_successor FROM oauth_tokens WHERE token_hash = :token_hash"
    assert rows(client, found, token_hash=token_hash)[0][0] is None


def test_a_refresh_token_is_valid_for_thirty_days(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tokens_of(client, application)["refresh_token"]
    advance_clock(monkeypatch, REFRESH_TOKEN_IDLE - SECOND)
    assert refresh(client.app, application, token).status_code == 200


@pytest.mark.both
def test_an_expired_unused_token_revokes_nothing(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tokens_of(client, application)
    advance_clock(monkeypatch, REFRESH_TOKEN_IDLE + SECOND)
    assert_error(refresh(client.app, application, first["refresh_token"]), "invalid_grant")
    ended = rows(client, "SELECT revoked_at FROM oauth_authorizations WHERE account_id = :id",
                 id=client.account_id)  # fmt: skip
    assert [row[0] for row in ended] == [None]


def test_a_family_expires_after_ninety_days(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = clock.now()
    monkeypatch.setattr(clock, "now", lambda: start)
    token = tokens_of(client, application)["refresh_token"]
    for day in (25, 50, 75):
        monkeypatch.setattr(clock, "now", lambda day=day: start + timedelta(days=day))
        token = refresh(client.app, application, token).json["refresh_token"]
    end = start + AUTHORIZATION_LIFE
    monkeypatch.setattr(clock, "now", lambda: end - timedelta(minutes=10))
    last = refresh(client.app, application, token).json
    assert last["expires_in"] == 600
    assert api_status(client, last) == 200
    monkeypatch.setattr(clock, "now", lambda: end - SECOND)
    assert refresh(client.app, application, last["refresh_token"]).json["expires_in"] == 1
    monkeypatch.setattr(clock, "now", lambda: end)
    assert api_status(client, last) == 401
    assert_error(refresh(client.app, application, last["refresh_token"]), "invalid_grant")


def test_a_narrower_scope_limits_the_access_token(client: Client, application: Application) -> None:
    scopes = ("projects:read", "assets:read", "offline_access")
    first = tokens_of(client, application, scopes)
    less = refresh(client.app, application, first["refresh_token"], scope="assets:read").json
    assert less["scope"] == "assets:read"
    assert api_status(client, less) == 403
    again = refresh(client.app, application, less["refresh_token"]).json
    assert again["scope"].split() == list(scopes)
    assert api_status(client, again) == 200


def test_a_changed_secret_key_invalidates_stored_responses(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    response = refresh(client.app, application, old).json
    monkeypatch.setattr("app.oauth.issuing.unseal", _sealed_otherwise)
    assert_error(refresh(client.app, application, old), "invalid_grant")
    assert api_status(client, response) == 200


def _sealed_otherwise(_: str) -> None:
    raise ValueError
