"""Joining with an invitation link."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.account.members.invitations import accept_invitation, find_invitation
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Membership, User
from app.security import tokens
from app.values import clock
from tests.make import (
    Client,
    event_types,
    events,
    invitation_token,
    make_invited,
    make_member,
    new_email,
    together,
)

PATH = "/v1/account/members"


def _accept(client: Client, token: str) -> Any:
    with client.app.app_context(), transaction():
        return accept_invitation(token)


def _find(client: Client, token: str) -> Any:
    with client.app.app_context():
        return find_invitation(token)


@pytest.fixture
def invited(client: Client) -> dict[str, Any]:
    return make_invited(client, "editor")


@pytest.fixture
def token(client: Client, invited: dict[str, Any]) -> str:
    return invitation_token(client, invited["email"])


def test_accepting_an_invitation(client: Client, invited: dict[str, Any], token: str) -> None:
    before = clock.format_time(clock.now())
    assert _accept(client, token) == (client.account_id, invited["id"])
    member = client.get(f"{PATH}/{invited['id']}").json["data"]
    assert before <= member["joined_at"] == member["last_active_at"]
    assert member | {"joined_at": None, "last_active_at": None} == invited
    assert client.get("/v1/account").json["data"]["usage"]["members"] == 2
    event = events(client)[-1]
    assert event["type"] == "member.joined"
    names = ["id", "email", "name", "role", "joined_at"]
    assert event["data"] == {name: member[name] for name in names}
    assert list(event["data"]) == names
    account = client.get("/v1/account").json["data"]
    assert event["account"] == {"id": account["id"], "name": account["name"]}
    with client.app.app_context():
        row = db.session.get_one(Membership, (client.account_id, invited["id"]))
        assert row.invitation_hash is row.invitation_expires_at is None


def test_the_link_verifies_the_address(client: Client, invited: dict[str, Any], token: str) -> None:
    assert _verified_at(client, invited["id"]) is None
    _accept(client, token)
    first = _verified_at(client, invited["id"])
    assert first is not None
    assert _verified_at(client, invited["id"]) == first


def _verified_at(client: Client, user_id: str) -> Any:
    with client.app.app_context():
        return db.session.get_one(User, user_id).email_verified_at


def test_a_verified_address_keeps_its_time(
    client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    email = new_email()
    member = make_member(stranger, "viewer", email=email)
    first, later = _verified_at(client, member.id), clock.now() + timedelta(days=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    make_member(client, "viewer", email=email)
    assert _verified_at(client, member.id) == first


def test_a_link_expires_after_a_week(
    client: Client, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    for days, is_valid in ((7, False), (6.99, True)):
        monkeypatch.setattr(clock, "now", lambda days=days: now + timedelta(days=days))
        assert (_find(client, token) is not None) is is_valid
        assert (_accept(client, token) is not None) is is_valid


def test_one_joins_with_the_current_role(
    client: Client, invited: dict[str, Any], token: str
) -> None:
    client.put(f"{PATH}/{invited['id']}", json={"role": "admin"})
    assert _find(client, token).role == "admin"
    _accept(client, token)
    assert client.get(f"{PATH}/{invited['id']}").json["data"]["role"] == "admin"


def test_malformed_and_unknown_tokens(client: Client, token: str) -> None:
    unknown = tokens.new_token(tokens.LINK)
    for wrong in ("", "x", "canopy_lnk_", "\x00", "canopy_lnk_" + "a" * 38, unknown):
        assert _find(client, wrong) is None
        assert _accept(client, wrong) is None
    assert _find(client, token) is not None


def test_is_registered(client: Client, stranger: Client) -> None:
    owner = stranger.get(f"{PATH}/{stranger.owner_id}").json["data"]
    make_invited(client, email=owner["email"])
    row = _find(client, invitation_token(client, owner["email"]))
    assert row.is_registered is True
    assert (row.user_id, row.name) == (owner["id"], owner["name"])


def test_concurrent_requests_join_once(client: Client, token: str) -> None:
    found = together(*[lambda: _accept(client, token)] * 8)
    assert len([joined for joined in found if joined is not None]) == 1
    assert event_types(client) == ["member.invited", "member.joined"]


def test_concurrent_joining_and_withdrawing_stay_consistent(client: Client) -> None:
    for _ in range(3):
        record = make_invited(client)
        token = invitation_token(client, record["email"])
        path, known = f"{PATH}/{record['id']}", len(events(client))
        calls: Any = [lambda t=token: _accept(client, t), lambda p=path: client.delete(p)]
        joined, removed = together(*calls)
        assert removed.status_code == 204
        told = event_types(client)[known:]
        assert told == (["member.joined"] if joined else []) + ["member.removed"]
        assert client.get(PATH).json["meta"]["total"] == 1
