"""The page of a person's own invitations: who invited them to what, joining and declining."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.account.members.own_invitations import accept_own_invitation, decline_own_invitation
from app.db.transactions import transaction
from app.values import clock
from tests.make import (
    Browser,
    Client,
    event_types,
    events,
    make_account,
    make_invited,
    make_member,
    new_email,
    together,
)
from tests.make.audit import new_entries
from tests.pages.support import browser_of, post, signed_in_browser

PATH = "/invitations"


@pytest.fixture
def invited(client: Client, stranger: Client) -> dict[str, Any]:
    """The record of somebody who has joined another account, and is invited by an owner."""
    email = new_email()
    member = make_member(stranger, "viewer", email=email)
    inviting = {"email": email, "role": "editor"}
    assert client.post("/v1/account/members/invite", json=inviting).status_code == 201
    return {"id": member.id, "email": email}


@pytest.fixture
def browser(client: Client, stranger: Client, invited: dict[str, Any]) -> Browser:
    return signed_in_browser(stranger, invited["id"])


def test_it_says_who_invited_them_to_what_and_until_when(client: Client, browser: Browser) -> None:
    owner = client.get(f"/v1/account/members/{client.owner_id}").json["data"]
    page = browser.get(PATH)
    assert client.get("/v1/account").json["data"]["name"] in page.text
    assert "Role: editor" in page.text
    assert f"Invited by {owner['name']} ({owner['email']})" in page.text
    assert f"Valid until {clock.now() + timedelta(days=7):%m/%d/%Y}" in page.text


def test_declining(client: Client, browser: Browser, invited: dict[str, Any]) -> None:
    browser.get(PATH)
    with new_entries(client) as found:
        page = browser.submit(f"{PATH}/decline")
    assert "Invitation declined." in page.text
    assert "You have no open invitations." in page.text
    (entry,) = found
    assert entry["action"] == "member.declined"
    assert entry["actor"] == {"type": "person", "id": invited["id"], "label": invited["email"]}
    assert entry["target"] == entry["actor"] | {"type": "member"}
    assert entry["changes"] == {"role": {"from": "editor", "to": None}}
    assert event_types(client) == ["member.invited", "member.removed"]
    assert client.get("/v1/account/members").json["meta"]["total"] == 1
    assert client.get("/v1/account").json["data"]["usage"]["members"] == 1
    log = browser_of(client, "owner").get("/audit-log")
    assert f"{invited['email']} declined their invitation" in log.text


def test_what_cannot_be_declined(
    client: Client, stranger: Client, browser: Browser, invited: dict[str, Any]
) -> None:
    """An account that they have joined, one that did not invite them, none, nonsense."""
    other = make_account(client.app)
    make_invited(other)
    with new_entries(client, stranger.account_id, other.account_id) as found:
        for account_id in (stranger.account_id, other.account_id, "", "acct_x", "\x00"):
            post(browser, f"{PATH}/decline", account_id=account_id)
            assert "That invitation has ended." in browser.get(PATH).text
    assert found == []


def test_the_menu_leads_there_while_an_invitation_is_open(
    client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browser.get("/accounts")
    assert "Invitations 1" in page.text
    assert "You are invited to an account. Accept or decline" in page.text
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=7))
    assert PATH not in browser.get("/accounts").links
    monkeypatch.undo()
    post(browser, f"{PATH}/decline", account_id=client.account_id)
    assert PATH not in browser.get("/accounts").links


def test_joining_and_declining_at_once_stay_consistent(client: Client, stranger: Client) -> None:
    def act(change: Any, user_id: str) -> Any:
        with client.app.app_context(), transaction():
            return change(user_id, client.account_id)

    for _ in range(5):
        email = new_email()
        user_id = make_member(stranger, "viewer", email=email).id
        make_invited(client, email=email)
        known = len(events(client))
        changes = (accept_own_invitation, decline_own_invitation)
        joined, declined = together(*[lambda c=c, u=user_id: act(c, u) for c in changes])
        assert bool(joined) is not bool(declined)
        told = event_types(client)[known:]
        assert told == (["member.joined"] if joined else ["member.removed"])
