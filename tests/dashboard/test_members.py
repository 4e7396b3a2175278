"""The page of members."""

from __future__ import annotations

from tests.dashboard.support import browser_of, post
from tests.make import Browser, Client, invitation_token, make_member, new_email


def test_members_are_listed_with_their_roles(client: Client, viewer: Browser) -> None:
    member = make_member(client, "admin")
    page = viewer.get("/members")
    assert member.email in page.text
    assert "you" in page.text
    assert "Send the invitation" not in page.text


def test_somebody_is_invited(client: Client, owner: Browser) -> None:
    email = new_email(client)
    owner.get("/members")
    page = owner.submit("/members/invite", email=email, role="viewer")
    assert page.path == "/members"
    assert f"An invitation is on its way to {email}." in page.text
    assert "invited" in page.text
    assert invitation_token(client, email)


def test_a_wrong_address_and_a_member_are_refused(client: Client, owner: Browser) -> None:
    owner.get("/members")
    page = owner.submit("/members/invite", email="nobody", role="viewer")
    assert page.status == 422
    assert page.form("/members/invite").fields["email"] == "nobody"
    member = make_member(client)
    page = owner.submit("/members/invite", email=member.email, role="viewer")
    assert "already" in page.text


def test_an_editor_invites_nobody(client: Client) -> None:
    editor = browser_of(client, "editor")
    page = post(editor, "/members/invite", email="x@example.org", role="viewer")
    assert page.status == 403
