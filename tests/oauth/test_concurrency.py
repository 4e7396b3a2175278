"""One code and one refresh token, used many times at once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from app.db.extensions import db
from app.db.transactions import transaction
from app.policy.oauth import REFRESH_GRACE
from app.values import clock
from tests.make import Application, Client, together
from tests.make.oauth import code_form, exchange, refresh
from tests.oauth.support import advance_clock, api_status, assert_error, code_of, rows, tokens_of

TIMES = 8


def _send(client: Client, form: dict[str, str]) -> list[tuple[int, Any]]:
    """The statuses and bodies of the responses to one form that is sent many times at once."""

    def post() -> tuple[int, Any]:
        response = client.app.test_client().post("/oauth/token", data=form)
        return response.status_code, response.json

    return together(*[post] * TIMES)


def _code_form(client: Client, application: Application) -> dict[str, str]:
    return application.proof | code_form(application, code_of(client, application))


def _refresh_form(client: Client, application: Application) -> dict[str, str]:
    token = tokens_of(client, application)["refresh_token"]
    return application.proof | {"grant_type": "refresh_token", "refresh_token": token}


def _family(client: Client) -> list[bool]:
    """Whether each authorization of the account has been revoked."""
    statement = "SELECT revoked_at FROM oauth_authorizations WHERE account_id = :id"
    return [row[0] is not None for row in rows(client, statement, id=client.account_id)]


def _tokens(client: Client, kind: str) -> int:
    statement = (
        "SELECT count(*) FROM oauth_tokens JOIN oauth_authorizations AS a ON a.id ="
        " authorization_id WHERE a.account_id = :id AND kind = :kind"
    )
    return int(rows(client, statement, id=client.account_id, kind=kind)[0][0])


@pytest.mark.both
def test_one_exchange_succeeds_and_reuse_revokes_the_family(
    client: Client, application: Application
) -> None:
    responses = _send(client, _code_form(client, application))
    assert Counter(status for status, _ in responses) == {200: 1, 400: TIMES - 1}
    won = next(body for status, body in responses if status == 200)
    assert {body["error"] for status, body in responses if status == 400} == {"invalid_grant"}
    assert _family(client) == [True]
    assert api_status(client, won) == 401
    assert_error(refresh(client.app, application, won["refresh_token"]), "invalid_grant")
    assert _tokens(client, "access") == 1


@pytest.mark.both
def test_all_refreshes_get_one_successor(
    client: Client,
    application: Application,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = _refresh_form(client, application)
    responses = _send(client, form)
    assert Counter(status for status, _ in responses) == {200: TIMES}
    won = responses[0][1]
    assert [body for _, body in responses] == [won] * TIMES
    assert _family(client) == [False]
    assert (_tokens(client, "access"), _tokens(client, "refresh")) == (2, 2)
    assert api_status(client, won) == 200
    advance_clock(monkeypatch, REFRESH_GRACE)
    assert_error(refresh(client.app, application, form["refresh_token"]), "invalid_grant")
    assert api_status(client, won) == 401


@pytest.mark.both
def test_refreshes_after_the_grace_all_fail_and_revoke_the_family(
    client: Client, application: Application
) -> None:
    form = _refresh_form(client, application)
    won = refresh(client.app, application, form["refresh_token"]).json
    with client.app.app_context(), transaction():
        moment = clock.now() - REFRESH_GRACE
        if client.app.config["SETTINGS"].uses_sqlite:
            moment = clock.format_time(moment)  # type: ignore[assignment]
        statement = "UPDATE oauth_tokens SET used_at = :moment WHERE used_at IS NOT NULL"
        db.session.execute(db.text(statement), {"moment": moment})
    responses = _send(client, form)
    assert {status for status, _ in responses} == {400}
    assert _family(client) == [True]
    assert api_status(client, won) == 401


@pytest.mark.both
@pytest.mark.parametrize("turn", range(2))
def test_concurrent_code_reuse_and_refresh_revoke_everything(
    client: Client, application: Application, turn: int
) -> None:
    """Tokens that the refresh writes after the revocation belong to the family too."""
    code = code_of(client, application)
    first = exchange(client.app, application, code).json
    token = first["refresh_token"]
    calls = [
        lambda: exchange(client.app, application, code),
        lambda: refresh(client.app, application, token),
    ]
    responses = together(*calls[turn % 2 :], *calls[: turn % 2])
    for response in (first, *(each.json for each in responses if each.status_code == 200)):
        assert api_status(client, response) == 401
        assert_error(refresh(client.app, application, response["refresh_token"]), "invalid_grant")
