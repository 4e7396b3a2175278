"""POST /v1/account/members/invite (docs/members.md, "Inviting")."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from app.account.members.invitations import find_invitation, invite_member
from app.http.errors import Forbidden
from tests.account.members.support import PATH, count_members, invite
from tests.make import (
    Client,
    event_types,
    events,
    invitation_token,
    mails_to,
    make_invited,
    make_member,
    new_email,
    operator_of,
    text_of,
    together,
)


def _owner(client: Client) -> Any:
    return client.get(f"{PATH}/{client.owner_id}").json["data"]


def test_an_address_that_a_form_refuses_cannot_be_invited(client: Client) -> None:
    for email in ("x@localhost", "a@b", "jo@example.org", "jo@exa_mple.org", "jo@e.org."):
        checked = client.nobody().post("/api/auth/check-email", {"email": email})
        invited = client.post(f"{PATH}/invite", {"email": email, "role": "viewer"})
        assert (checked.status_code == 200) == (invited.status_code == 201), email


def test_an_invited_person_is_a_member(client: Client) -> None:
    email, role = new_email(), "editor"
    response = invite(client, email, role)
    assert response.status_code == 201
    record = response.json["data"]
    assert (record["email"], record["role"], record["joined_at"]) == (email, role, None)
    assert response.headers["Location"] == f"http://localhost{PATH}/{record['id']}"
    read = client.get(response.headers["Location"])
    assert read.json["data"] == record
    assert read.headers["ETag"] == response.headers["ETag"]
    assert count_members(client) == 2
    assert event_types(client) == ["member.invited"]


def test_invalid_bodies_are_rejected(client: Client) -> None:
    for body, fields in (
        ({"email": "jo@example.org", "role": "owner"}, ["role"]),
        ({"email": "jo", "role": "admin"}, ["email"]),
        ({"email": "", "role": "owner"}, ["email", "role"]),
        ({"email": "jo@example.org\r\nBcc: all@example.org", "role": "admin"}, ["email"]),
        ({"email": "jo\x00@example.org", "role": "admin"}, ["email"]),
        ({"email": "ß" * 150 + "@example.org", "role": "admin"}, ["email"]),
        ({"email": "j" * 250 + "@example.org", "role": "admin"}, ["email"]),
    ):
        response = client.post(f"{PATH}/invite", json=body)
        assert response.status_code == 422
        assert sorted(d["field"] for d in response.json["error"]["details"]) == fields, body
    assert count_members(client) == 1
    assert events(client) == []


def test_read_only_fields_are_ignored(client: Client) -> None:
    sent = {"id": "x", "name": "Boss", "permissions": ["admin"], "joined_at": "x"}
    body = {"email": f" {new_email()} ", "role": "viewer", "last_active_at": 1} | sent
    record = client.post(f"{PATH}/invite", json=body).json["data"]
    assert record["email"] == body["email"].strip()
    assert record["name"] == record["email"].partition("@")[0]
    assert record["role"] == "viewer"
    assert record["joined_at"] is None


def test_the_stored_address_of_a_person_is_used(client: Client, stranger: Client) -> None:
    email = new_email()
    known = make_member(stranger, "viewer", email=email)
    record = invite(client, email.upper(), "admin").json["data"]
    assert record["id"] == known.id
    assert record["email"] == email
    assert len(mails_to(client.app, email)) == 1  # the other one was accepted unread
    assert mails_to(client.app, email.upper()) == []


def test_an_address_that_only_folding_makes_the_same_is_another_person(client: Client) -> None:
    """strasse and straße can be different mailboxes."""
    email = f"strasse-{new_email()}"
    invite(client, email)
    response = invite(client, email.replace("ss", "ß"))
    assert response.status_code == 422
    assert [d["field"] for d in response.json["error"]["details"]] == ["email"]


def test_a_member_cannot_be_invited(client: Client) -> None:
    member = make_member(client, "viewer")
    known = event_types(client)
    for email in (member.email, member.email.upper(), _owner(client)["email"]):
        response = invite(client, email, "admin")
        assert response.status_code == 409
        assert response.json["error"]["code"] == "CONFLICT"
        assert response.json["error"]["message"] == "This person is already a member."
        assert [d["field"] for d in response.json["error"]["details"]] == ["email"]
    assert event_types(client) == known
    assert client.get(f"{PATH}/{member.id}").json["data"]["role"] == "viewer"
    assert count_members(client) == 2


def test_an_invitation_can_be_repeated(client: Client) -> None:
    email = new_email()
    first = invite(client, email, "viewer")
    old = invitation_token(client, email)
    again = invite(client, email.upper(), "admin")
    new = invitation_token(client, email)
    assert again.status_code == 201
    assert again.headers["Location"] == first.headers["Location"]
    assert again.json["data"] == client.get(first.headers["Location"]).json["data"]
    assert again.json["data"]["role"] == "admin"
    with client.app.app_context():
        assert find_invitation(old) is None
        assert find_invitation(new).role == "admin"
    assert event_types(client) == ["member.invited"] * 2
    assert [event["data"]["role"] for event in events(client)] == ["viewer", "admin"]
    assert count_members(client) == 2
    assert new in text_of(mails_to(client.app, email)[-1])


def test_a_request_repeated_with_an_idempotency_key_sends_one_mail(client: Client) -> None:
    email, key = new_email(), {"Idempotency-Key": "invite"}
    first = invite(client, email, headers=key)
    again = invite(client, email, headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.get_data() == first.get_data()
    assert again.headers["Location"] == first.headers["Location"]
    assert event_types(client) == ["member.invited"]
    assert len(mails_to(client.app, email)) == 1


def test_who_may_invite(client: Client) -> None:
    member = make_member(client, "admin")
    assert invite(member.client, new_email(), "admin").status_code == 201
    invited_by = events(client)[-1]["data"]["invited_by"]
    assert invited_by == {"id": member.id, "email": member.email}
    sent = mails_to(client.app, client.get(PATH).json["data"][-1]["email"])
    assert member.email in text_of(sent[-1])


def test_only_a_current_member_may_act(client: Client, stranger: Client) -> None:
    """A membership may have ended after the request was authenticated."""
    for acting_id in (make_member(stranger, "admin").id, make_invited(client, "admin")["id"]):
        with client.app.app_context():
            acting = dataclasses.replace(operator_of(client), kind="api_key", user_id=acting_id)
            with pytest.raises(Forbidden, match="does not belong"):
                invite_member(acting, email=new_email(), role="viewer")


def test_two_accounts_invite_one_new_person_concurrently(client: Client, stranger: Client) -> None:
    email = new_email()
    calls = [lambda c=c: invite(c, email) for c in (client, stranger) * 3]
    responses = together(*calls)
    assert {response.status_code for response in responses} == {201}
    assert len({response.json["data"]["id"] for response in responses}) == 1
    assert count_members(client) == count_members(stranger) == 2


def test_the_path_of_invitations_is_no_member(client: Client) -> None:
    for method in ("get", "put", "delete"):
        answer = getattr(client, method)(f"{PATH}/invite")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST"), method
    for name in ("invite2", "invitee", "nvite", "Invite"):
        assert client.get(f"{PATH}/{name}").status_code == 404
