"""The page of one member: changing their role, removing them, and what that ends."""

from __future__ import annotations

import pytest

from app.account.credentials.service import create_credential
from app.account.members.invitations import accept_invitation
from app.auth.sessions import start_session
from app.db.transactions import transaction
from app.oauth.consents import save_consent
from tests.make import (
    Browser,
    Client,
    invitation_token,
    make_application,
    make_invited,
    make_member,
)
from tests.pages.support import browser_of, post, signed_in_browser

API = "/v1/account/members"


def role_of(client: Client, member_id: str) -> str:
    return str(client.get(f"{API}/{member_id}").json["data"]["role"])


def with_access(client: Client) -> str:
    """An admin with two browsers, an application, and keys. Returns their id."""
    member = make_member(client, "admin")
    application = make_application(client, name="Map of Woods")
    with client.app.app_context(), transaction():
        for _ in range(2):
            start_session(member.id, client.account_id, address="", browser="")
        for name, permission in (("Nightly export", "billing:read"), ("Reader", "projects:read")):
            create_credential(
                client.account_id,
                kind="service_token",
                name=name,
                permissions=[permission],
                created_by=member.id,
            )
        consent = (client.account_id, member.id, application.id, ["projects:read"])
        save_consent(*consent, name="x")
    return member.id


def test_what_ends_is_said_before(client: Client, owner: Browser) -> None:
    page = owner.get(f"/members/{with_access(client)}")
    lower, _, removal = page.text.partition("Save the role")
    assert lower.count("Signs them out here, in 2 browsers.") == 2
    assert "Ends the access of 1 application: Map of Woods." in lower
    assert "Reduces 1 key or token to what the role may do: API key test (ends in" in lower
    assert "Revokes 1 key or token: service token Nightly export (ends in" in lower
    assert "Reader" not in lower
    assert "Revokes 3 keys and tokens: " in removal
    assert "service token Reader" in removal


def test_what_is_said_is_what_happens(client: Client, owner: Browser) -> None:
    member_id = with_access(client)
    theirs = signed_in_browser(client, member_id)
    assert theirs.get("/members").status == 200
    owner.get(f"/members/{member_id}")
    page = owner.submit(f"/members/{member_id}/role", role="viewer")
    assert "The role of" in page.text
    assert "is viewer now." in page.text
    assert role_of(client, member_id) == "viewer"
    assert theirs.get("/members").title == "Sign in"
    text = owner.get(f"/members/{member_id}").text
    assert "Signs them out" not in text
    assert "Nightly export" not in text
    assert "service token Reader" in text


def test_a_higher_role_ends_nothing(client: Client, owner: Browser) -> None:
    member = make_member(client, "viewer")
    theirs = signed_in_browser(client, member.id)
    owner.get(f"/members/{member.id}")
    owner.submit(f"/members/{member.id}/role", role="owner")
    assert role_of(client, member.id) == "owner"
    assert theirs.get("/members").status == 200


def test_a_role_that_there_is_not(client: Client, owner: Browser) -> None:
    for role in ["", "king"]:
        member = make_member(client, "viewer")
        page = post(owner, f"/members/{member.id}/role", role=role, was_role="viewer")
        assert page.status == 422
        assert "Choose a role." in page.text


def test_a_member_is_removed(client: Client, owner: Browser) -> None:
    member_id = with_access(client)
    theirs = signed_in_browser(client, member_id)
    theirs.get("/members")
    owner.get(f"/members/{member_id}")
    page = owner.submit(f"/members/{member_id}/remove")
    assert page.path == "/members"
    assert "is removed and no longer has access." in page.text
    assert client.get(f"{API}/{member_id}").status_code == 404
    assert theirs.get("/members").title == "Sign in"


def test_being_active_is_no_change(client: Client, owner: Browser) -> None:
    member = make_member(client, "viewer")
    owner.get(f"/members/{member.id}")
    signed_in_browser(client, member.id).get("/members")
    owner.submit(f"/members/{member.id}/role", role="editor")
    assert role_of(client, member.id) == "editor"


@pytest.mark.parametrize("action", ["role", "remove"])
def test_somebody_else_was_quicker(client: Client, owner: Browser, action: str) -> None:
    member = make_member(client, "viewer")
    owner.get(f"/members/{member.id}")
    client.put(f"{API}/{member.id}", json={"role": "admin"})
    page = owner.submit(f"/members/{member.id}/{action}", role="editor")
    assert page.status == 412
    assert "has changed this role since you opened the page. The role is admin now." in page.text
    assert role_of(client, member.id) == "admin"
    owner.submit(f"/members/{member.id}/role", role="editor")
    assert role_of(client, member.id) == "editor"


def test_who_has_joined_meanwhile_is_not_withdrawn(client: Client, owner: Browser) -> None:
    invited = make_invited(client)
    owner.get("/members")
    with client.app.app_context(), transaction():
        accept_invitation(invitation_token(client, invited["email"]))
    page = owner.submit(f"/members/{invited['id']}/remove")
    assert page.status == 412
    assert "has joined since you opened the page." in page.text
    assert client.get(f"{API}/{invited['id']}").status_code == 200


def test_nobody_changes_their_own_role(client: Client, owner: Browser) -> None:
    page = owner.get(f"/members/{client.owner_id}")
    assert "You cannot change your own role." in page.text
    assert "This is the account's last owner." in page.text
    assert not [form for form in page.forms if form.action.startswith("/members/")]
    fields = {"was_role": "owner", "was_joined_at": _joined_at(client, client.owner_id)}
    page = post(owner, f"/members/{client.owner_id}/role", role="viewer", **fields)
    assert page.status == 403
    assert "You cannot change your own role." in page.text
    assert post(owner, f"/members/{client.owner_id}/remove", **fields).status == 409


def _joined_at(client: Client, member_id: str) -> str:
    return str(client.get(f"{API}/{member_id}").json["data"]["joined_at"])


def test_an_admin_does_not_touch_an_owner(client: Client) -> None:
    admin, other = browser_of(client, "admin"), make_member(client, "owner")
    page = admin.get(f"/members/{other.id}")
    assert page.text.count("Only owners can add, change or remove owners.") == 2
    assert not [form for form in page.forms if form.action.startswith("/members/")]
    assert f"/members/{other.id}" in admin.get("/members").links
    fields = {"was_role": "owner", "was_joined_at": _joined_at(client, other.id)}
    for action in ("role", "remove"):
        page = post(admin, f"/members/{other.id}/{action}", role="viewer", **fields)
        assert page.status == 403
    assert role_of(client, other.id) == "owner"


def test_who_is_invited_becomes_no_owner(client: Client, owner: Browser) -> None:
    invited = make_invited(client, "viewer")
    page = owner.get(f"/members/{invited['id']}")
    assert 'value="owner"' not in page.response.get_data(as_text=True)
    page = owner.submit(f"/members/{invited['id']}/role", role="owner")
    assert page.status == 409
    assert "has to accept the invitation" in page.text
    owner.submit(f"/members/{invited['id']}/role", role="admin")
    assert role_of(client, invited["id"]) == "admin"
