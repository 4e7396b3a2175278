"""``bin/canopy user``: the people who can sign in."""

from __future__ import annotations

import click

from app.account.members.removal import solely_owned_accounts
from app.cli.context import database_command
from app.cli.group import Commands
from app.cli.output import (
    CommandError,
    confirm_action,
    read_password,
    show_json,
    show_record,
    show_records,
    show_section,
    yes_option,
)
from app.db.transactions import transaction
from app.people.deletion import delete_person
from app.people.lookup import find_user, list_people, open_sessions
from app.people.second_factor.reset import reset_by_operator
from app.people.service import check_new_password, replace_password, sign_out_everywhere
from app.people.single_sign_on.identities import linked_sign_ins
from app.security.passwords import make_password
from app.values.command_name import canopy_command

_COLUMNS = (
    "id", "email", "name", "accounts", "has_password", "has_second_factor", "email_verified",
    "created_at",
)  # fmt: skip
_user_argument = click.argument("user", metavar="USER")


user = Commands("user", help="List, show, sign out and delete people, and reset what is lost.")


@user.command("list")
@database_command("user list", "user list --json")
def list_users_command(as_json: bool) -> None:
    """List all people, oldest first, with their accounts."""
    records = list_people()
    if not as_json:
        for record in records:
            record["accounts"] = [account["slug"] for account in record["accounts"]]
    show_records(records, _COLUMNS, as_json=as_json, none="There are no people yet.")


@user.command("show")
@_user_argument
@database_command("user show jo@example.org", "user show jo@example.org --json")
def show_user_command(user: str, as_json: bool) -> None:
    """Show a person, their accounts and sessions.

    USER is the id or email address.
    """
    record = find_user(user)
    sessions, sign_ins = open_sessions(record["id"]), linked_sign_ins(record["id"])
    if as_json:
        show_json(record | {"sign_ins": sign_ins, "sessions": sessions})
        return
    accounts = record.pop("accounts")
    show_record(record, as_json=False)
    show_section("Accounts", accounts, ("id", "slug", "name", "role"))
    names = ("issuer", "email", "created_at", "last_used_at")
    show_section("Linked sign-ins", sign_ins, names)
    columns = ("browser", "address", "created_at", "last_used_at")
    show_section("Sessions", sessions, columns)


@user.command("set-password")
@_user_argument
@click.option("--generate", is_flag=True, help="Generate a password and show it once.")
@database_command("user set-password jo@example.org", "user set-password jo@example.org --generate")
def set_password(user: str, generate: bool, as_json: bool) -> None:
    """Set a new password for a person and end their sessions.

    USER is the id or email address. On a terminal, the command asks for the password twice;
    otherwise it reads the first line of standard input. An email tells the person that the password
    was changed, but does not contain it.
    """
    person = find_user(user)
    password = make_password() if generate else read_password()
    check_new_password(person, password)
    with transaction():
        replace_password(person, password)
    record = {"id": person["id"], "email": person["email"], "changed": True}
    show_record(record | ({"password": password} if generate else {}), as_json=as_json)


@user.command("reset-second-factor")
@_user_argument
@database_command("user reset-second-factor jo@example.org")
def reset_second_factor(user: str, as_json: bool) -> None:
    """Remove a person's lost second factor.

    USER is the id or email address. Their sessions end. Authenticator app, passkeys and recovery
    codes go; the person signs in with their password, and is told by email. First make sure that it
    is really them who asks.
    """
    person = find_user(user)
    with transaction():
        reset_by_operator(person["id"])
    show_record({"id": person["id"], "email": person["email"], "reset": True}, as_json=as_json)


@user.command("sign-out")
@_user_argument
@database_command("user sign-out jo@example.org", "user sign-out jo@example.org --json")
def sign_out(user: str, as_json: bool) -> None:
    """Sign a person out of all browsers.

    USER is the id or email address. Passwords, linked sign-ins, API keys and the access of
    applications stay as they are: remove the person from accounts to end those.
    """
    person = find_user(user)
    with transaction():
        number = sign_out_everywhere(person)
    record = {"id": person["id"], "email": person["email"], "ended_sessions": number}
    show_record(record, as_json=as_json)


@user.command("delete")
@_user_argument
@yes_option
@database_command("user delete jo@example.org", "user delete jo@example.org --yes --json")
def delete_user_command(user: str, yes: bool, as_json: bool) -> None:
    """Delete a person for good.

    USER is the id or email address. They leave all accounts, and the keys and tokens that they
    created there stop working. Somebody who is the only owner of an account cannot be deleted.
    """
    person = find_user(user)
    if owned := solely_owned_accounts(person["id"]):
        slugs = ", ".join(row.slug for row in owned)
        raise CommandError(
            f"{person['email']} is the only owner of {slugs}. Make somebody else an owner with "
            f"{canopy_command('member set-role')}, or delete the account with "
            f"{canopy_command('account delete')}."
        )
    accounts = [account["slug"] for account in person["accounts"]]
    leaving = f", who leaves {', '.join(accounts)}," if accounts else ""
    confirm_action(f"Delete {person['email']}{leaving} for good?", yes=yes, as_json=as_json)
    with transaction():
        delete_person(person["id"])
    show_record({"id": person["id"], "email": person["email"], "deleted": True}, as_json=as_json)
