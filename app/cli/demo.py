"""``bin/canopy demo``: an account to try the service with."""

from __future__ import annotations

from functools import partial

import click

from app.cli.context import in_database
from app.cli.output import add_examples, json_option, print_text, show_json, show_record
from app.db.transactions import transaction
from app.demo.service import find_demo, make_demo
from app.values.command_name import canopy_command


@click.command("demo")
@json_option
@add_examples("demo", "demo --json")
@partial(in_database, creates=True)
def demo(as_json: bool) -> None:
    """Create an account with example data.

    It has ranger districts of the Pacific Northwest with some assets, an owner, and an API key with
    all permissions. The password and the key are shown only once. If the account already exists,
    nothing is created.
    """
    account = find_demo()
    if account is None:
        with transaction():
            new = make_demo()
        show_record(new._asdict() | {"created": True}, as_json=as_json)
    elif as_json:
        show_json({"account_id": account.id, "slug": account.slug, "created": False})
    else:
        slug = account.slug
        create = canopy_command(f"key create --account {slug} --name mine --permission admin")
        print_text(
            f"The demo account already exists: {slug} ({account.id}). Create a key for it with:"
            f"\n  {create}"
        )
