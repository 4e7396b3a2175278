"""``bin/canopy demo``: an account to try the service with."""

from __future__ import annotations

from functools import partial

import click

from app.cli.context import in_database
from app.cli.output import echo, examples, json_option, show_json, show_record
from app.db.transactions import transaction
from app.demo.service import find_demo, make_demo
from app.values.command_name import canopy_command


@click.command("demo")
@json_option
@examples("demo", "demo --json")
@partial(in_database, creates=True)
def demo(as_json: bool) -> None:
    """Create an account with example data.

    It has ranger districts of the Pacific Northwest with some assets, an owner, and an API key with
    all permissions. The password and the key are shown only once. If the account already exists,
    nothing is created.
    """
    found = find_demo()
    if found is None:
        with transaction():
            made = make_demo()
        record = {
            "account_id": made.account_id,
            "owner_id": made.owner_id,
            "owner_email": made.owner_email,
            "owner_password": made.password,
            "api_key": made.api_key,
            "slug": made.slug,
            "projects": made.projects,
            "assets": made.assets,
            "created": True,
        }
        show_record(record, as_json=as_json)
    elif as_json:
        show_json({"account_id": found.id, "slug": found.slug, "created": False})
    else:
        create = canopy_command(f"key create --account {found.slug} --name mine --permission admin")
        echo(
            f"The demo account already exists: {found.slug} ({found.id}). Create a key for it with:"
            f"\n  {create}"
        )


commands = [demo]
