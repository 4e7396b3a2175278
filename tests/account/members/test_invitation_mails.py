"""Invitation mails, and where the link must not appear."""

from __future__ import annotations

from typing import Any

from app.account.members.invitations import find_invitation
from app.db.extensions import db
from app.models import Mail, Membership
from tests.account.members.support import PATH, invite
from tests.make import (
    Client,
    events,
    invitation_token,
    link_in,
    mails_to,
    new_email,
    second_app,
    text_of,
)


def _account(client: Client) -> Any:
    return client.get("/v1/account").json["data"]


def _owner(client: Client) -> Any:
    return client.get(f"{PATH}/{client.owner_id}").json["data"]


def test_the_link_is_mailed(client: Client) -> None:
    email = new_email()
    invite(client, email, "viewer")
    (mail,) = mails_to(client.app, email)
    account, owner = _account(client), _owner(client)
    for word in (account["name"], owner["name"], owner["email"], "viewer", "7 days"):
        assert word in text_of(mail)
    link = link_in(mail)
    assert link.startswith(f"{client.app.config['SETTINGS'].public_url}/invitations/canopy_lnk_")
    with client.app.app_context():
        row = find_invitation(link.rpartition("/")[2])
        assert (row.account_id, row.account_name) == (client.account_id, account["name"])
        assert (row.email, row.role, row.is_registered) == (email, "viewer", False)
        assert row.user_id == client.get(PATH).json["data"][1]["id"]


def test_the_link_is_not_stored_or_logged(client: Client) -> None:
    email = new_email()
    response = invite(client, email)
    token = invitation_token(client, email)
    assert token not in response.get_data(as_text=True)
    assert token not in str(events(client))
    with client.app.app_context():
        mail = db.session.scalars(db.select(Mail).where(Mail.recipient == email)).one()
        row = db.session.get_one(Membership, (client.account_id, response.json["data"]["id"]))
        assert token not in f"{mail.sealed} {mail.cause} {row.invitation_hash}"


def test_the_link_uses_the_public_url(client: Client) -> None:
    """Whatever the Host header says."""
    with second_app(client.app, public_url="https://forest.example.org") as app:
        elsewhere = Client(app, client.account_id, client.owner_id, client.token)
        email = new_email()
        invite(elsewhere, email, headers={"Host": "evil.example.net"})
        mail = mails_to(app, email)[-1]
    assert link_in(mail).startswith("https://forest.example.org/invitations/")
    assert "evil" not in text_of(mail)
