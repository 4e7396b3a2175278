"""PUT /v1/account/members/{member_id} (docs/members.md, "Roles")."""

from __future__ import annotations

from typing import Any

import pytest

from app.account.members.service import change_role
from app.db.transactions import transaction
from app.http.errors import Conflict
from tests.make import (
    Client,
    event_types,
    events,
    make_invited,
    make_key,
    make_key_of,
    make_member,
    make_service_token,
    operator_of,
)

PATH = "/v1/account/members"


def _put(client: Client, member_id: str, body: Any = None, **options: Any) -> Any:
    return client.put(f"{PATH}/{member_id}", json=body, **options)


def _role(client: Client, member_id: str) -> str:
    role: str = client.get(f"{PATH}/{member_id}").json["data"]["role"]
    return role


def test_an_owner_gives_any_role(client: Client) -> None:
    for before, after in (("viewer", "admin"), ("admin", "owner"), ("editor", "editor")):
        member = make_member(client, before)
        known = len(events(client))
        response = _put(client, member.id, {"role": after})
        assert response.status_code == 200
        record = response.json["data"]
        assert record == client.get(f"{PATH}/{member.id}").json["data"]
        assert record["role"] == after
        told = events(client)[known:]
        if before == after:
            assert told == []
            continue
        (event,) = told
        assert event["type"] == "member.updated"
        names = ["id", "email", "name", "role", "joined_at"]
        assert list(event["data"]) == [*names, "changes", "updated_by"]
        assert {name: event["data"][name] for name in names} == {
            name: record[name] for name in names
        }
        assert event["data"]["changes"] == {"role": {"from": before, "to": after}}
        assert event["data"]["updated_by"]["id"] == client.owner_id


def test_only_owners_change_owners(client: Client) -> None:
    """Neither an admin, nor a key of an owner that lacks admin."""
    limited = make_key(client, permissions=["members:write"])
    for caller in (make_member(client, "admin").client, limited):
        for before, after, status in (
            ("viewer", "editor", 200),
            ("admin", "owner", 403),
            ("owner", "viewer", 403),
        ):
            member = make_member(client, before)
            known = event_types(client)
            response = _put(caller, member.id, {"role": after})
            assert response.status_code == status
            assert _role(client, member.id) == (after if status == 200 else before)
            assert event_types(client) == known + ["member.updated"] * (status == 200)
            if status == 403:
                assert response.json["error"]["code"] == "FORBIDDEN"
                assert "owner" in response.json["error"]["message"]


def test_a_service_token_acts_for_its_creator(client: Client) -> None:
    member, admin = make_member(client, "viewer"), make_member(client, "admin")
    token = make_key_of(client, admin.id, "admin", kind="service_token")
    assert _put(token, member.id, {"role": "owner"}).status_code == 403
    assert _put(make_service_token(client), member.id, {"role": "owner"}).status_code == 200


def test_nobody_changes_their_own_role(client: Client) -> None:
    role = "admin"
    member = make_member(client, role)
    known = event_types(client)
    for other in {"viewer", "admin", "owner"} - {role}:
        response = _put(member.client, member.id, {"role": other})
        assert response.status_code == 403
        assert "own role" in response.json["error"]["message"]
    assert _put(member.client, member.id, {"role": role}).status_code == 200
    assert _put(member.client, member.id, {}).status_code == 200
    assert _role(client, member.id) == role
    assert event_types(client) == known


def test_the_current_role_decides(client: Client) -> None:
    """Not the role at the time the key was created."""
    was_owner, member = make_member(client, "owner"), make_member(client, "viewer")
    _put(client, was_owner.id, {"role": "admin"})
    assert _put(was_owner.client, member.id, {"role": "owner"}).status_code == 403
    assert _put(was_owner.client, member.id, {"role": "editor"}).status_code == 200


def test_a_key_with_more_permissions_than_its_creator_does_not_help(client: Client) -> None:
    editor, member = make_member(client, "editor"), make_member(client, "viewer")
    key = make_key_of(client, editor.id, "admin")
    assert _put(key, member.id, {"role": "admin"}).status_code == 403
    assert key.delete(f"{PATH}/{member.id}").status_code == 403


def test_nobody_can_demote_the_last_owner(client: Client) -> None:
    with client.app.app_context(), pytest.raises(Conflict, match="last owner"):
        change_role(operator_of(client), client.owner_id, "admin")
    assert _role(client, client.owner_id) == "owner"


@pytest.mark.both
def test_the_operator_may_do_anything(client: Client) -> None:
    member = make_member(client, "owner")
    with client.app.app_context(), transaction():
        change_role(operator_of(client), client.owner_id, "viewer")
    assert _role(member.client, client.owner_id) == "viewer"


def test_an_invited_person_cannot_become_owner(client: Client) -> None:
    member_id = make_invited(client, "viewer")["id"]
    response = _put(client, member_id, {"role": "owner"})
    assert response.status_code == 409
    assert response.json["error"]["code"] == "CONFLICT"
    assert _put(client, member_id, {"role": "admin"}).json["data"]["role"] == "admin"
    assert event_types(client) == ["member.invited", "member.updated"]


def test_an_empty_change_changes_nothing(client: Client) -> None:
    member = make_member(client, "editor")
    before, known = client.get(f"{PATH}/{member.id}").json["data"], event_types(client)
    for body in (
        {},
        before,
        {"email": "y", "permissions": [], "joined_at": None},
    ):
        assert _put(client, member.id, body).json["data"] == before
    assert event_types(client) == known
    assert member.client.get(PATH).status_code == 200


def test_if_match(client: Client) -> None:
    member = make_member(client, "viewer")
    tag = client.get(f"{PATH}/{member.id}").headers["ETag"]
    for wrong in ('"x"', f"W/{tag}"):
        for body in ({"role": "admin"}, {}):
            assert _put(client, member.id, body, headers={"If-Match": wrong}).status_code == 412
    changed = _put(client, member.id, {"role": "admin"}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] == client.get(f"{PATH}/{member.id}").headers["ETag"] != tag
    assert _put(client, member.id, {"role": "editor"}, headers={"If-Match": tag}).status_code == 412
    path = f"{PATH}/{member.id}"
    assert client.delete(path, headers={"If-Match": tag}).status_code == 412
    current = {"If-Match": changed.headers["ETag"]}
    assert client.delete(path, headers=current).status_code == 204
