"""Refresh tokens: what they give, for how long, and how often."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.db.extensions import db
from app.oauth.issuing import find_token, forget_successors
from app.policy.oauth import (
    AUTHORIZATION_LIFE,
    REFRESH_GRACE,
    REFRESH_TOKEN_IDLE,
)
from app.values import clock
from tests.make import Application, Client
from tests.make.oauth import refresh
from tests.oauth.support import (
    later,
    refused,
    rows,
    status_with,
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
    assert status_with(client, response.json) == 200
    assert status_with(client, first) == 200  # its hour is not over


def test_a_repeat_within_the_grace_gets_the_same_bytes(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    first = refresh(client.app, application, old)
    later(monkeypatch, REFRESH_GRACE - SECOND)
    second = refresh(client.app, application, old)
    assert second.get_data() == first.get_data()
    third = refresh(client.app, application, first.json["refresh_token"])
    assert third.status_code == 200
    assert refresh(client.app, application, old).get_data() == first.get_data()


def test_after_the_grace_a_repeat_ends_the_family(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    successor = refresh(client.app, application, old).json
    later(monkeypatch, REFRESH_GRACE)
    refused(refresh(client.app, application, old), "invalid_grant")
    assert status_with(client, successor) == 401
    refused(refresh(client.app, application, successor["refresh_token"]), "invalid_grant")
    refused(refresh(client.app, application, old), "invalid_grant")


def test_a_repeat_ends_the_family_also_long_after(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = current = tokens_of(client, application)["refresh_token"]
    for _ in range(3):
        later(monkeypatch, timedelta(days=20))
        answer = refresh(client.app, application, current).json
        current = answer["refresh_token"]
    refused(refresh(client.app, application, old), "invalid_grant")
    assert status_with(client, answer) == 401


def test_the_kept_answer_is_sealed_and_forgotten(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = "SELECT sealed_successor FROM oauth_tokens WHERE sealed_successor IS NOT NULL"
    before = len(rows(client, statement))
    old = tokens_of(client, application)["refresh_token"]
    answer = refresh(client.app, application, old).json
    kept = rows(client, statement)
    assert len(kept) == before + 1
    assert not [row for row in kept if answer["access_token"] in row[0]]
    later(monkeypatch, REFRESH_GRACE)
    refresh(client.app, application, answer["refresh_token"])
    with client.app.app_context():
        token_hash = find_token(old).token_hash
    found = "SELECT sealed_successor FROM oauth_tokens WHERE token_hash = :token_hash"
    assert rows(client, found, token_hash=token_hash)[0][0] is None


def test_the_kept_answer_of_who_never_comes_again_is_forgotten(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = (
        "SELECT count(*) FROM oauth_tokens JOIN oauth_authorizations AS a ON a.id ="
        " authorization_id WHERE a.account_id = :id AND sealed_successor IS NOT NULL"
    )
    for _ in range(3):
        old = tokens_of(client, application)["refresh_token"]
        refresh(client.app, application, old)
    for wait, number, left in ((REFRESH_GRACE - SECOND, 500, 3), (SECOND, 1, None), (0, 500, 0)):
        later(monkeypatch, wait or timedelta())
        with client.app.app_context():
            forgotten = forget_successors(number)
            db.session.commit()
        assert forgotten <= number
        assert left is None or rows(client, statement, id=client.account_id)[0][0] == left
    refused(refresh(client.app, application, old), "invalid_grant")


@pytest.mark.parametrize(
    ("idle", "status"), [(REFRESH_TOKEN_IDLE - SECOND, 200), (REFRESH_TOKEN_IDLE + SECOND, 400)]
)
def test_a_refresh_token_is_good_for_thirty_days(
    client: Client,
    application: Application,
    monkeypatch: pytest.MonkeyPatch,
    idle: timedelta,
    status: int,
) -> None:
    token = tokens_of(client, application)["refresh_token"]
    later(monkeypatch, idle)
    assert refresh(client.app, application, token).status_code == status


def test_an_unused_token_that_has_expired_ends_nothing(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tokens_of(client, application)
    later(monkeypatch, REFRESH_TOKEN_IDLE + SECOND)
    refused(refresh(client.app, application, first["refresh_token"]), "invalid_grant")
    ended = rows(client, "SELECT revoked_at FROM oauth_authorizations WHERE account_id = :id",
                 id=client.account_id)  # fmt: skip
    assert [row[0] for row in ended] == [None]


def test_whatever_is_refreshed_ends_after_ninety_days(
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
    assert status_with(client, last) == 200
    monkeypatch.setattr(clock, "now", lambda: end - SECOND)
    assert refresh(client.app, application, last["refresh_token"]).json["expires_in"] == 1
    monkeypatch.setattr(clock, "now", lambda: end)
    assert status_with(client, last) == 401
    refused(refresh(client.app, application, last["refresh_token"]), "invalid_grant")


def test_a_narrower_scope_gives_an_access_token_of_less(
    client: Client, application: Application
) -> None:
    scopes = ("projects:read", "assets:read", "offline_access")
    first = tokens_of(client, application, scopes)
    less = refresh(client.app, application, first["refresh_token"], scope="assets:read").json
    assert less["scope"] == "assets:read"
    assert status_with(client, less) == 403
    again = refresh(client.app, application, less["refresh_token"]).json
    assert again["scope"].split() == list(scopes)
    assert status_with(client, again) == 200


@pytest.mark.parametrize("scope", ["projects:write", "projects:read projects:write", "admin", "x"])
def test_a_wider_scope_is_refused_and_uses_nothing_up(
    client: Client, application: Application, scope: str
) -> None:
    token = tokens_of(client, application)["refresh_token"]
    refused(refresh(client.app, application, token, scope=scope), "invalid_scope")
    assert refresh(client.app, application, token).status_code == 200


def test_another_secret_key_opens_no_kept_answer(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tokens_of(client, application)["refresh_token"]
    answer = refresh(client.app, application, old).json
    monkeypatch.setattr("app.oauth.issuing.unseal", _sealed_otherwise)
    refused(refresh(client.app, application, old), "invalid_grant")
    assert status_with(client, answer) == 200


def _sealed_otherwise(_: str) -> None:
    raise ValueError
