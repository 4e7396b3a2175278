"""``bin/canopy account``: accounts and their plans."""

from __future__ import annotations

from typing import Any

import click

from app.account.operator import find_account, list_accounts, rename
from app.account.service import create_account, read_account, set_plan
from app.cli.context import in_database
from app.cli.group import Commands, Entry
from app.cli.output import examples, json_option, show_json, show_record, show_records
from app.cli.plans import describe_plan, larger_plan
from app.credentials.service import create_credential
from app.db.transactions import transaction
from app.policy.bounds import ACCOUNT_TYPES, RESERVED_SLUGS
from app.values.text import slugify

_COLUMNS = (
    "id", "slug", "name", "type", "plan", "projects", "hectares", "members", "created_at",
)  # fmt: skip


_OTHERS = (
    Entry("show", "account_details", "Show an account with plan, usage, members and webhooks."),
    Entry("export", "account_export", "Write an account's data to a JSON document."),
    Entry("delete", "account_deletion", "Delete an account and everything in it for good."),
)


@click.group("account", cls=Commands, entries=_OTHERS)
def account() -> None:
    """Create, list, change, export and delete accounts."""


@account.command("create")
@click.option("--name", required=True, help="Name of the account; its slug is derived from it.")
@click.option("--owner-email", required=True, help="E-mail address of the person who owns it.")
@click.option("--owner-password", help="10 to 128 characters; generated when left out.")
@click.option("--plan", help="The plan that it is on; that of DEFAULT_PLAN when left out.")
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
    name: str,
    owner_email: str,
    owner_password: str | None,
    plan: str | None,
    kind: str,
    as_json: bool,
) -> None:
    """Create an account with its owner and a first API key.

    The key may do everything. It and the owner's password are shown this once. Someone who already
    has a password keeps it, and none is shown.
    """
    name, owner_email = name.strip(), owner_email.strip()
    given = {} if plan is None else {"plan": plan}
    with transaction():
        made = create_account(
            name=name, owner_email=owner_email, owner_password=owner_password, type=kind, **given
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
            "slug": made.account.slug,
            "plan": made.account.plan,
            "owner_id": made.owner.id,
            "owner_email": made.owner.email,
            "owner_password": made.password,
            "api_key": key,
        }
    show_record(record, as_json=as_json)
    if not as_json:
        _explain(name, record)


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
    if not as_json:
        record["plan"] = describe_plan(record["plan"])
    show_record(record, as_json=as_json)


@account.command("rename")
@click.argument("account", metavar="ACCOUNT")
@click.argument("name", metavar="NAME")
@json_option
@examples('account rename green-woods "Greener Woods"')
@in_database
def rename_(account: str, name: str, as_json: bool) -> None:
    """Change the name of an account.

    ACCOUNT is its id or slug. The slug stays as it is.
    """
    found = find_account(account)
    with transaction():
        rename(found.id, name.strip())
    record = read_account(found.id)
    if as_json:
        show_json(record)
    else:
        show_record({name: record[name] for name in ("id", "slug", "name")}, as_json=False)


def _explain(name: str, record: dict[str, Any]) -> None:
    """Say what the plan allows, and why the slug has a number."""
    slug, wanted = record["slug"], slugify(name)
    if wanted and slug != wanted:
        reason = "is reserved" if wanted in RESERVED_SLUGS else "belongs to another account"
        click.echo(f"\nThe slug {wanted!r} {reason}, so this account has {slug!r}.")
    hint = ""
    if larger := larger_plan(record["plan"]):
        hint = f" Change it with: bin/canopy account update {slug} --plan {larger}"
    click.echo(f"\nPlan: {describe_plan(record['plan'])}.{hint}")


commands = [account]
