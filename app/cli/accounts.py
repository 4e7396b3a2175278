"""``bin/canopy account`` and ``bin/canopy plan``: accounts and their plans."""

from __future__ import annotations

from dataclasses import fields

import click

from app.account.operator import find_account, list_accounts, list_plans
from app.account.service import create_account, set_plan
from app.cli.context import in_database
from app.cli.group import Commands
from app.cli.output import examples, json_option, show_record, show_records
from app.credentials.service import create_credential
from app.db.transactions import transaction
from app.policy.bounds import ACCOUNT_TYPES
from app.policy.plans import DEFAULT_PLAN, Plan

_COLUMNS = (
    "id", "slug", "name", "type", "plan", "projects", "hectares", "members", "created_at",
)  # fmt: skip

_PLAN_COLUMNS = ("plan", *(field.name for field in fields(Plan)), "accounts")


@click.group("account", cls=Commands)
def account() -> None:
    """Create, list and update accounts."""


@account.command("create")
@click.option("--name", required=True, help="Name of the account; its slug is made of it.")
@click.option("--owner-email", required=True, help="E-mail address of the person who owns it.")
@click.option("--owner-password", help="10 to 128 characters; made up when left out.")
@click.option("--plan", default=DEFAULT_PLAN, show_default=True, help="The plan that it is on.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(ACCOUNT_TYPES),
    default="organization",
    show_default=True,
    help="What kind of account it is.",
)
@json_option
@examples(
    'account create --name "Green Woods" --owner-email jo@example.org',
    "account create --name Solo --owner-email jo@example.org --type individual --plan pro --json",
)
@in_database
def create(
    name: str, owner_email: str, owner_password: str | None, plan: str, kind: str, as_json: bool
) -> None:
    """Create an account with its owner and a first API key.

    The key may do everything. It and the owner's password are shown this once. Someone who already
    has a password keeps it, and none is shown.
    """
    name, owner_email = name.strip(), owner_email.strip()
    with transaction():
        made = create_account(
            name=name, owner_email=owner_email, owner_password=owner_password, plan=plan, type=kind
        )
        _, key = create_credential(
            made.account.id,
            kind="api_key",
            name="First key",
            permissions=["admin"],
            created_by=made.owner.id,
        )
        record = {
            "account_id": made.account.id,
            "owner_id": made.owner.id,
            "owner_email": made.owner.email,
            "owner_password": made.password,
            "api_key": key,
        }
    show_record(record, as_json=as_json)


@account.command("list")
@json_option
@examples("account list", "account list --json")
@in_database
def list_(as_json: bool) -> None:
    """List all accounts, oldest first, with what they hold."""
    records = list_accounts()
    if not as_json:
        records = [record | record["usage"] for record in records]
    none = "There is no account yet. Create one with: bin/canopy account create --help"
    show_records(records, _COLUMNS, as_json=as_json, none=none)


@account.command("update")
@click.argument("account", metavar="ACCOUNT")
@click.option("--plan", required=True, help="The plan that it is on from the next request on.")
@json_option
@examples(
    "account update green-woods --plan pro", "account update green-woods --plan enterprise --json"
)
@in_database
def update(account: str, plan: str, as_json: bool) -> None:
    """Put an account on another plan.

    ACCOUNT is its id or slug.
    """
    with transaction():
        changed = set_plan(find_account(account).id, plan)
        record = {"id": changed.id, "slug": changed.slug, "plan": changed.plan}
    show_record(record, as_json=as_json)


@click.group("plan", cls=Commands)
def plan() -> None:
    """List the plans that accounts can be on."""


@plan.command("list")
@json_option
@examples("plan list", "plan list --json")
@in_database
def list_plans_(as_json: bool) -> None:
    """List all plans and how many accounts are on each.

    A limit shown as - is no limit.
    """
    records = list_plans()
    if not as_json:
        for record in records:
            note = "" if record["exists"] else f" (not in PLANS_FILE: limits of {DEFAULT_PLAN})"
            record["plan"] += note
    show_records(records, _PLAN_COLUMNS, as_json=as_json, none="There is no plan.")


commands = [account, plan]
