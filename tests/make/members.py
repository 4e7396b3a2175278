"""People in an account: invited, and joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.account.credentials.service import create_credential
from app.account.lookup import find_account
from app.account.members.invitations import accept_invitation, invite_member
from app.account.members.service import change_role
from app.auth.operator import acting_for, first_owner
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.transactions import transaction
from app.mail.leases import unseal_contents
from app.models import Mail, User
from app.people.instance_operators import add_operator
from app.people.service import verify_address
from app.policy.permissions import role_permissions
from app.security.passwords import hash_password
from tests.make.accounts import Client
from tests.make.browser import PASSWORD
from tests.make.mails import new_email


@dataclass(frozen=True)
class Member:
    """A person in an account, and a caller with an API key that they made."""

    id: str
    email: str
    client: Client


def make_member(client: Client, role: str = "editor", *, email: str | None = None) -> Member:
    """A new member, joined, with an API key that has the permissions of their role."""
    email = email or new_email()
    with client.app.app_context(), transaction():
        operator = operator_of(client)
        first_role = "admin" if role == "owner" else role
        member_id = invite_member(operator, email=email, role=first_role)["id"]
        assert accept_invitation(_token_mailed_to(email)) is not None
        if role == "owner":
            change_role(operator, member_id, "owner")
    return Member(member_id, email, make_key_of(client, member_id, role))


def make_operator(client: Client, user_id: str | None = None) -> str:
    """Make somebody an operator with a confirmed address, by default the account's owner. Returns
    their id."""
    user_id = user_id or client.owner_id
    with client.app.app_context(), transaction():
        add_operator(user_id)
        verify_address(user_id, is_audited=True)
    return user_id


def make_invited(client: Client, role: str = "editor", *, email: str | None = None) -> Any:
    """The record of a person who has not joined yet."""
    with client.app.app_context(), transaction():
        return invite_member(operator_of(client), email=email or new_email(), role=role)


def make_key_of(client: Client, member_id: str, role: str, *, kind: str = "api_key") -> Client:
    """A caller with an API key of a member, with the permissions of a role: also of one that the
    member has not, whose keys the service would not make."""
    with client.app.app_context(), transaction():
        credential, token = create_credential(
            client.account_id,
            kind=kind,
            name="test",
            permissions=role_permissions(role),
        )
        credential.created_by = member_id
        return Client(client.app, client.account_id, member_id, token, credential.id)


def set_password(client: Client, user_id: str) -> None:
    """Give a person the password of the tests' people."""
    with client.app.app_context(), transaction():
        db.session.get_one(User, user_id).password_hash = hash_password(PASSWORD)


def operator_of(client: Client) -> Principal:
    """The operator of the instance, in the name of the account's first owner."""
    account = find_account(client.account_id)
    return acting_for(account, first_owner(account.id))


def invitation_token(client: Client, email: str) -> str:
    """The token of the link that was mailed last to an address."""
    with client.app.app_context():
        return _token_mailed_to(email)


def _token_mailed_to(email: str) -> str:
    own = db.select(Mail).where(Mail.recipient == email, Mail.kind == "invitation")
    mail = db.session.scalars(own.order_by(Mail.id.desc()).limit(1)).one()
    link: str = unseal_contents(mail).values["link"]
    return link.rpartition("/")[2]
