"""What a removal or a lower role revokes (docs/members.md, "What ends")."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.account.credentials.service import create_credential, list_credentials
from app.auth.sessions import find_session, start_session
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import OAuthAuthorization, OAuthConsent, OAuthToken
from app.oauth.jobs import delete_tokens
from app.policy.permissions import expand_permissions, role_permissions
from tests.make import (
    Client,
    Member,
    grant_tokens,
    make_application,
    make_member,
    new_email,
    second_app,
)

PATH = "/v1/account/members"
EVERYTHING = ["admin"]


def _demote(client: Client, member: Member, role: str) -> None:
    assert client.put(f"{PATH}/{member.id}", json={"role": role}).status_code == 200


def _remove(client: Client, member: Member) -> None:
    assert client.delete(f"{PATH}/{member.id}").status_code == 204


# Changes to a member who was an admin, and whether they revoke access.
CHANGES: list[Any] = [
    (lambda client, member: _remove(client, member), True),
    (lambda client, member: _demote(client, member, "editor"), True),
    (lambda client, member: _demote(client, member, "owner"), False),
]
each_change = pytest.mark.parametrize(
    ("change", "ends"), CHANGES, ids=["removed", "editor", "owner"]
)


def _session(client: Client, user_id: str, account_id: str | None) -> str:
    with client.app.app_context(), transaction():
        return start_session(user_id, account_id, address="198.51.100.7", browser="Firefox")


def _is_alive(client: Client, token: str) -> bool:
    with client.app.app_context():
        return find_session(token) is not None


@each_change
def test_sessions_end(client: Client, stranger: Client, change: Any, ends: bool) -> None:
    email = new_email()
    member = make_member(client, "admin", email=email)
    make_member(stranger, "admin", email=email)
    here = [_session(client, member.id, client.account_id) for _ in range(2)]
    others = [
        _session(client, member.id, stranger.account_id),
        _session(client, member.id, None),
        _session(client, client.owner_id, client.account_id),
    ]
    change(client, member)
    assert [_is_alive(client, token) for token in here] == [not ends] * 2
    assert all(_is_alive(client, token) for token in others)


def _grant(client: Client, user_id: str, account_id: str) -> str:
    """Have a person allow a new application to act for them. Returns its id."""
    application = make_application(client)
    grant_tokens(client.app, application, user_id, account_id)
    return application.id


def _left(client: Client, application_id: str) -> int:
    """How many rows there are of what somebody allowed an application."""
    of_application = OAuthAuthorization.application_id == application_id
    own = (
        select(OAuthConsent).where(OAuthConsent.application_id == application_id),
        select(OAuthAuthorization).where(of_application),
        select(OAuthToken).where(
            OAuthToken.authorization_id.in_(select(OAuthAuthorization.id).where(of_application))
        ),
    )
    with client.app.app_context():
        delete_tokens()
        return sum(len(db.session.scalars(each).all()) for each in own)


@each_change
def test_consents_are_revoked(client: Client, stranger: Client, change: Any, ends: bool) -> None:
    email = new_email()
    member = make_member(client, "admin", email=email)
    make_member(stranger, "admin", email=email)
    here = [_grant(client, member.id, client.account_id) for _ in range(2)]
    others = [
        _grant(client, member.id, stranger.account_id),
        _grant(client, client.owner_id, client.account_id),
    ]
    change(client, member)
    assert [_left(client, granted) for granted in here] == [0 if ends else 3] * 2
    assert [_left(client, granted) for granted in others] == [3, 3]


def _key(client: Client, user_id: str, permissions: list[str], kind: str = "api_key") -> Client:
    with client.app.app_context(), transaction():
        credential, token = create_credential(
            client.account_id, kind=kind, name="k", permissions=permissions, created_by=user_id
        )
        return Client(client.app, client.account_id, user_id, token, credential.id)


def _held(client: Client, key: Client, kind: str = "api_key") -> list[str] | None:
    """The permissions of a key of the account, or None if it is revoked."""
    with client.app.app_context():
        found = list_credentials(client.account_id, kind)
    (row,) = [row for row in found if row["id"] == key.credential_id]
    return None if row["revoked_at"] else row["permissions"]


VIEWER, EDITOR = role_permissions("viewer"), role_permissions("editor")


def test_keys_are_restricted_to_the_new_role(client: Client) -> None:
    for kind, role, before, after in (
        ("api_key", "editor", ["admin"], EDITOR),
        ("service_token", "viewer", ["admin"], VIEWER),
        ("api_key", "viewer", ["projects:write"], ["projects:read"]),
        ("api_key", "editor", ["projects:write"], ["projects:write"]),
        (
            *("api_key", "editor", ["members:write", "projects:write"]),
            ["members:read", "projects:read", "projects:write"],
        ),
        ("service_token", "editor", ["billing:read"], None),
        ("api_key", "viewer", ["billing:read"], None),
        ("api_key", "owner", ["billing:read"], ["billing:read"]),
    ):
        member = make_member(client, "admin")
        key = _key(client, member.id, before, kind)
        owners = _key(client, client.owner_id, before, kind)
        _demote(client, member, role)
        assert _held(client, key, kind) == after
        assert _held(client, owners, kind) == before
        verified = key.get("/v1/auth/verify")
        assert verified.status_code == (401 if after is None else 200)
        assert after is None or verified.json["permissions"] == sorted(expand_permissions(after))


def test_an_owner_who_becomes_an_admin_keeps_restricted_keys(client: Client) -> None:
    owner, member = make_member(client, "owner"), make_member(client, "viewer")
    key = _key(client, owner.id, EVERYTHING)
    _demote(client, owner, "admin")
    assert _held(client, key) == EVERYTHING
    assert key.put(f"{PATH}/{member.id}", json={"role": "owner"}).status_code == 403


def test_a_higher_role_restores_nothing(client: Client) -> None:
    member = make_member(client, "admin")
    key, revoked = _key(client, member.id, EVERYTHING), _key(client, member.id, ["billing:read"])
    _demote(client, member, "viewer")
    _demote(client, member, "owner")
    assert _held(client, key) == VIEWER
    assert _held(client, revoked) is None
    assert revoked.get("/v1/account").status_code == 401


def test_keys_of_a_removed_person_are_revoked_for_every_process(
    client: Client, stranger: Client
) -> None:
    email = new_email()
    member = make_member(client, "admin", email=email)
    there = make_member(stranger, "admin", email=email)
    keys = [member.client, _key(client, member.id, EVERYTHING, "service_token")]
    with second_app(client.app) as app:
        elsewhere = [Client(app, key.account_id, key.owner_id, key.token) for key in keys]
        assert {key.get("/v1/account").status_code for key in (*keys, *elsewhere)} == {200}
        _remove(client, member)
        assert {key.get("/v1/account").status_code for key in (*keys, *elsewhere)} == {401}
    assert client.get("/v1/account").status_code == 200
    assert there.client.get("/v1/account").status_code == 200
    assert there.client.get("/v1/account").json["data"]["id"] == stranger.account_id


@pytest.mark.both
def test_a_rejected_change_revokes_nothing(client: Client) -> None:
    owner = make_member(client, "owner")
    admin = make_member(client, "admin")
    session = _session(client, owner.id, client.account_id)
    granted = _grant(client, owner.id, client.account_id)
    assert admin.client.delete(f"{PATH}/{owner.id}").status_code == 403
    assert admin.client.put(f"{PATH}/{owner.id}", json={"role": "viewer"}).status_code == 403
    stale = {"If-Match": '"x"'}
    assert client.delete(f"{PATH}/{owner.id}", headers=stale).status_code == 412
    assert _is_alive(client, session)
    assert _left(client, granted) == 3
    assert owner.client.get("/v1/account").status_code == 200
