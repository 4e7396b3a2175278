"""``bin/canopy operator``: the people who see the page of operators."""

from __future__ import annotations

import click

from app.cli.context import database_command
from app.cli.group import Commands
from app.cli.output import show_record, show_records
from app.db.transactions import transaction
from app.people.instance_operators import add_operator, list_operators, remove_operator
from app.people.lookup import find_user
from app.values.command_name import canopy_command

_COLUMNS = ("id", "email", "name", "operator_since", "email_verified", "has_second_factor")
_email_argument = click.argument("email", metavar="EMAIL")


operator = Commands("operator", help="Say who sees the page of operators.")


@operator.command("list")
@database_command("operator list", "operator list --json")
def list_operators_command(as_json: bool) -> None:
    """List the operators.

    One whose address is not verified is let in once it is.
    """
    none = f"There are no operators yet. Add one with: {canopy_command('operator add EMAIL')}"
    show_records(list_operators(), _COLUMNS, as_json=as_json, none=none)


@operator.command("add")
@_email_argument
@database_command("operator add jo@example.org", "operator add jo@example.org --json")
def add_operator_command(email: str, as_json: bool) -> None:
    """Make a person an operator.

    EMAIL is their address, or their id. They see the page at /operator, which has the names, plans
    and numbers of all accounts, and can change plans, close sign-up and show everybody a message.
    They do not see what is in accounts. They need a verified address, and should have a second
    factor.
    """
    person = find_user(email)
    with transaction():
        is_new = add_operator(person["id"])
    names = ("id", "email", "email_verified", "has_second_factor")
    show_record({name: person[name] for name in names} | {"added": is_new}, as_json=as_json)


@operator.command("remove")
@_email_argument
@database_command("operator remove jo@example.org", "operator remove jo@example.org --json")
def remove_operator_command(email: str, as_json: bool) -> None:
    """Let a person be an operator no longer, from their next request on.

    EMAIL is their address, or their id.
    """
    person = find_user(email)
    with transaction():
        is_removed = remove_operator(person["id"])
    record = {"id": person["id"], "email": person["email"], "removed": is_removed}
    show_record(record, as_json=as_json)
