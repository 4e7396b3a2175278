"""DELETE /v1/account/members/{member_id} (docs/members.md, "Removing and leaving")."""

from __future__ import annotations

import dataclasses

import pytest

from app.account.members.service import remove_member
from app.db.transactions import transaction
from app.http.errors import Conflict
from tests.make import Client, event_types, events, make_invited, make_member, operator_of

PATH = "/v1/account/members"


def _remove(client: Client, member_id: str) -> int:
    return client.delete(f"{PATH}/{member_id}").status_code


def _ids(client: Client) -> list[str]:
    response = client.get(PATH).json
    counted = client.get("/v1/account").json["data"]["usage"]["members"]
    assert counted == response["meta"]["total"]
    return [member["id"] for member in response["data"]]


def test_an_owner_removes_anybody(client: Client) -> None:
    member = make_member(client, "owner")
    last = client.get(f"{PATH}/{member.id}").json["data"]
    assert _remove(client, member.id) == 204
    assert _remove(client, member.id) == 404
    assert _ids(client) == [client.owner_id]
    event = events(client)[-1]
    assert event["type"] == "member.removed"
    names = ["id", "email", "name", "role", "joined_at"]
    owner = client.get(f"{PATH}/{client.owner_id}").json["data"]
    by = {"removed_by": {"id": owner["id"], "email": owner["email"]}}
    assert event["data"] == {name: last[name] for name in names} | by


def test_an_invitation_is_withdrawn(client: Client) -> None:
    record = make_invited(client)
    assert _remove(client, record["id"]) == 204
    assert _ids(client) == [client.owner_id]
    assert event_types(client) == ["member.invited", "member.removed"]
    assert events(client)[-1]["data"]["joined_at"] is None


def test_an_admin_removes_anybody_but_owners(client: Client) -> None:
    admin = make_member(client, "admin")
    for role, status in (("owner", 403), ("admin", 204)):
        member = make_member(client, role)
        assert _remove(admin.client, member.id) == status
        assert (member.id in _ids(client)) is (status == 403)
        assert ("member.removed" in event_types(client)) is (status == 204)


def test_a_member_leaves(client: Client) -> None:
    member = make_member(client, "admin")
    assert _remove(member.client, member.id) == 204
    assert _ids(client) == [client.owner_id]
    assert events(client)[-1]["data"]["removed_by"] == {"id": member.id, "email": member.email}
    assert member.client.get("/v1/account").status_code == 401


def test_a_viewer_leaves(client: Client) -> None:
    """Through the service, as the pages do: a viewer's key may not change members."""
    member = make_member(client, "viewer")
    with client.app.app_context(), transaction():
        viewer = dataclasses.replace(
            operator_of(client),
            kind="session",
            user_id=member.id,
            user_email=member.email,
            permissions=frozenset(),
        )
        remove_member(viewer, member.id)
    assert _ids(client) == [client.owner_id]


def test_the_last_owner_stays(client: Client) -> None:
    make_member(client, "admin")
    make_invited(client, "admin")
    known = event_types(client)
    response = client.delete(f"{PATH}/{client.owner_id}")
    assert response.status_code == 409
    assert response.json["error"]["code"] == "CONFLICT"
    assert "last owner" in response.json["error"]["message"]
    with client.app.app_context(), pytest.raises(Conflict):
        remove_member(operator_of(client), client.owner_id)
    assert client.owner_id in _ids(client)
    assert event_types(client) == known


def test_of_two_owners_one_can_go(client: Client) -> None:
    member = make_member(client, "owner")
    assert _remove(client, client.owner_id) == 204
    assert _ids(member.client) == [member.id]
    assert _remove(member.client, member.id) == 409


def test_a_removed_member_can_be_invited_again(client: Client) -> None:
    member = make_member(client, "admin")
    _remove(client, member.id)
    again = make_member(client, "viewer", email=member.email)
    assert again.id == member.id
    assert member.client.get(PATH).status_code == 401
    assert again.client.get(PATH).status_code == 200
    assert _ids(client) == [client.owner_id, member.id]
