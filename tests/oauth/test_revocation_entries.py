"""An application that revokes a token is entered in the log of the account that it acted in."""

from __future__ import annotations

from typing import Any

import pytest

from app.policy.oauth import REFRESH_GRACE
from app.security import tokens
from tests.make import Application, Client, grant_tokens, make_application, make_member
from tests.make.audit import new_entries
from tests.make.oauth import ask_token, code_form, refresh
from tests.oauth.support import advance_clock, code_of, tokens_of
from tests.pages.support import browser_of


def revoke(client: Client, application: Application, token: str) -> None:
    assert ask_token(client.app, application, "/oauth/revoke", token=token).status_code == 200


def test_one_entry(client: Client, stranger: Client) -> None:
    application = make_application(stranger, name="Forest App", scopes=SCOPES)
    member = make_member(client, "viewer")
    token = grant_tokens(client.app, application, member.id, client.account_id, SCOPES)[
        "access_token"
    ]
    with new_entries(client, stranger.account_id) as found:
        revoke(client, application, token)
        revoke(client, application, token)
    (entry,) = found
    assert entry["action"] == "application.token_revoked"
    assert entry["account_id"] == client.account_id
    assert entry["actor"] == {"type": "application", "id": application.id, "label": "Forest App"}
    assert entry["target"] == {"type": "member", "id": member.id, "label": member.email}
    page = browser_of(client).get("/audit-log?action=application.token_revoked")
    assert f"Forest App revoked an OAuth token of {member.email}" in page.text


SCOPES = ("projects:read", "offline_access")


def test_none_where_nothing_ends(client: Client, application: Application) -> None:
    answer = tokens_of(client, application)
    unknown = tokens.new_token(tokens.ACCESS_TOKEN)
    other = make_application(client)
    with new_entries(client) as found:
        revoke(client, application, unknown)
        ask_token(client.app, other, "/oauth/revoke", token=answer["access_token"])
    assert found == []
    revoke(client, application, answer["refresh_token"])
    assert entered(client, application, answer["access_token"]) == []


def test_a_refresh_token_that_is_used_again(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tokens_of(client, application)["refresh_token"]
    successor = refresh(client.app, application, token).json["refresh_token"]
    refresh(client.app, application, successor)
    advance_clock(monkeypatch, REFRESH_GRACE)
    with new_entries(client) as found:
        refresh(client.app, application, token)
        refresh(client.app, application, token)
    (entry,) = found
    assert entry["action"] == "application.token_reused"
    assert entry["actor"]["id"] == application.id
    assert entry["target"]["id"] == client.owner_id


def test_a_code_that_is_used_again(client: Client, application: Application) -> None:
    form = code_form(application, code_of(client, application))
    with new_entries(client) as before:
        ask_token(client.app, application, **form)
    with new_entries(client) as found:
        ask_token(client.app, application, **form)
        ask_token(client.app, application, **form)
    assert [entry["action"] for entry in found] == ["application.token_reused"]
    assert "application.token_reused" not in {entry["action"] for entry in before}


def entered(client: Client, application: Application, token: str) -> list[Any]:
    with new_entries(client) as found:
        revoke(client, application, token)
    return [entry["action"] for entry in found]
