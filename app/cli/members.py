"""``bin/canopy member``: the members of an account, with the rules of the API."""

from __future__ import annotations

from typing import Any

import click

from app.account.lookup import find_account
from app.account.members.invitations import send_invitation
from app.account.members.rules import INVITED_ROLES
from app.account.members.service import change_role, list_members, remove_member
from app.auth.operator import operator_of
from app.cli.context import database_command
from app.cli.group import Commands
from app.cli.output import (
    CommandError,
    account_option,
    confirm_action,
    show_record,
    show_records,
    yes_option,
)
from app.db.transactions import transaction
from app.policy.permissions import ROLES
from app.values.command_name import canopy_command
from app.values.folding import fold_text

_COLUMNS = ("id", "email", "name", "role", "joined_at", "last_active_at")
_SHOWN = ("id", "email", "role", "joined_at")
_member_argument = click.argument("member", metavar="MEMBER")


member = Commands("member", help="List, invite, change and remove the members of an account.")


@member.command("list")
@account_option
@database_command("member list --account green-woods")
def list_members_command(account: str, as_json: bool) -> None:
    """List an account's members and invited people, oldest first."""
    row = find_account(account)
    none = f"{row.name} has no members."
    show_records(list_members(row.id), _COLUMNS, as_json=as_json, none=none)


@member.command("add")
@click.argument("email", metavar="EMAIL")
@account_option
@click.option(
    "--role", required=True, type=click.Choice(INVITED_ROLES), help="What the person may do."
)
@database_command("member add jo@example.org --account green-woods --role editor")
def add_member_command(email: str, account: str, role: str, as_json: bool) -> None:
    """Invite a person and show the invitation link.

    The link is also emailed, in the name of the account's owner. Whoever opens it joins the
    account, and sets a password if they have none. Inviting somebody again creates a new link.
    """
    principal = operator_of(find_account(account))
    with transaction():
        invitation = send_invitation(principal, email=email.strip(), role=role)
        record = invitation.record | {"link": invitation.link}
    show_record(record, ("id", "email", "role", "link"), as_json=as_json)


@member.command("set-role")
@_member_argument
@account_option
@click.option("--role", required=True, type=click.Choice(list(ROLES)), help="The new role.")
@database_command("member set-role jo@example.org --account green-woods --role admin")
def set_role(member: str, account: str, role: str, as_json: bool) -> None:
    """Change a member's role.

    MEMBER is the person's id or email address. A lower role also revokes what it does not
    allow: sessions, applications' access, permissions of keys.
    """
    row = find_account(account)
    person = _find_member(row, member)
    with transaction():
        record = change_role(operator_of(row), person["id"], role)
    show_record(record, _SHOWN, as_json=as_json)


@member.command("remove")
@_member_argument
@account_option
@yes_option
@database_command("member remove jo@example.org --account green-woods")
def remove_member_command(member: str, account: str, yes: bool, as_json: bool) -> None:
    """Remove a member, or withdraw an invitation.

    MEMBER is the person's id or email address. The person's sessions in the account, their
    applications' access and their keys end at once.
    """
    row = find_account(account)
    person = _find_member(row, member)
    confirm_action(f"Remove {person['email']} from {row.name}?", yes=yes, as_json=as_json)
    with transaction():
        remove_member(operator_of(row), person["id"])
    show_record({"id": person["id"], "email": person["email"], "removed": True}, as_json=as_json)


def _find_member(account: Any, reference: str) -> dict[str, Any]:
    """Return the record of a member by id or address. Raises CommandError if there is none."""
    for record in list_members(account.id):
        if reference == record["id"] or fold_text(reference) == fold_text(record["email"]):
            return record
    raise CommandError(
        f"{account.name} has no member with the id or email address {reference!r}; "
        f"{canopy_command('member list')} --account {account.slug} shows them all."
    )
