"""GET /v1/account/members and /v1/account/members/{member_id} (docs/members.md)."""

from __future__ import annotations

from typing import Any

from app.account.members.schemas import InvitationSchema, MemberSchema, MemberUpdateSchema
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import User
from app.policy.permissions import ROLES
from tests.make import Client, make_invited, make_member, new_email

FIELDS = ["id", "email", "name", "role", "permissions", "joined_at", "last_active_at"]
PATH = "/v1/account/members"


def _members(client: Client) -> list[dict[str, Any]]:
    response = client.get(PATH).json
    assert response["meta"] == {"total": len(response["data"])}
    return response["data"]


def test_a_new_account_has_its_owner(client: Client) -> None:
    (owner,) = _members(client)
    assert list(owner) == FIELDS
    assert owner["id"] == client.owner_id
    assert owner["role"] == "owner"
    assert owner["permissions"] == sorted(ROLES["owner"])
    assert owner["name"] == owner["email"].partition("@")[0]
    assert owner["joined_at"] is not None
    assert owner["last_active_at"] is None


def test_members_are_listed_by_the_time_of_their_invitation(client: Client) -> None:
    """Whenever they join, and whatever roles they get."""
    invited = make_invited(client, "admin")
    joined = make_member(client, "viewer")
    client.put(f"{PATH}/{joined.id}", json={"role": "owner"})
    listed = _members(client)
    assert listed[1] == invited
    assert invited["joined_at"] is invited["last_active_at"] is None
    for member in listed[2:]:
        assert client.get(f"{PATH}/{member['id']}").json["data"] == member
    assert [member["id"] for member in listed] == [client.owner_id, invited["id"], joined.id]


def test_each_role_has_the_permissions_of_the_policy(client: Client) -> None:
    for role in ROLES:
        make_member(client, role)
    for member in _members(client):
        assert member["permissions"] == sorted(ROLES[member["role"]])


def test_the_name_of_a_person_is_shown_once_they_join(client: Client, stranger: Client) -> None:
    """The name is not revealed to anybody who merely knows the address."""
    email = new_email()
    known = make_member(stranger, "editor", email=email)
    _rename(client, known.id, "Jo Hazel")
    invited = make_invited(client, email=email)
    assert invited["id"] == known.id
    assert invited["name"] == email.partition("@")[0]
    joined = make_member(client, "editor", email=email)
    assert client.get(f"{PATH}/{joined.id}").json["data"]["name"] == "Jo Hazel"


def _rename(client: Client, user_id: str, name: str) -> None:
    with client.app.app_context(), transaction():
        db.session.get_one(User, user_id).name = name


def test_reads_have_entity_tags(client: Client) -> None:
    for path in (PATH, f"{PATH}/{client.owner_id}"):
        tag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    before = client.get(PATH).headers["ETag"]
    make_invited(client)
    assert client.get(PATH).headers["ETag"] != before


def test_the_examples_of_the_schemas_are_correct(client: Client) -> None:
    email = new_email("example")
    invited = client.post(f"{PATH}/invite", json=InvitationSchema.example | {"email": email})
    shown, own = MemberSchema.example, {"id": "", "email": "", "name": ""}
    assert list(invited.json["data"]) == list(shown)
    assert invited.json["data"] | own == shown | own
    assert len(invited.json["data"]["id"]) == len(shown["id"])
    path = invited.headers["Location"]
    assert client.put(path, json=MemberUpdateSchema.example).json["data"] == invited.json["data"]
    own = shown | invited.json["data"] | {"email": shown["email"], "role": "viewer"}
    assert client.put(path, json=own).json["data"]["role"] == "viewer"
