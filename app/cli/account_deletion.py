"""``bin/canopy account delete`` and ``account cancel-deletion``."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from app.account.deletion.contents import count_contents, delete_account, describe_contents
from app.account.deletion.schedule import cancel_by_operator
from app.account.lookup import find_account
from app.cli.context import database_command
from app.cli.output import CommandError, confirm_action, show_record, yes_option
from app.db import queries
from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import NotFound


@click.command("delete")
@click.argument("account", metavar="ACCOUNT")
@yes_option
@database_command("account delete green-woods", "account delete green-woods --yes --json")
def delete(account: str, yes: bool, as_json: bool) -> None:
    """Delete an account and everything in it for good.

    ACCOUNT is its id or slug. This deletes its projects, assets, members, keys, applications,
    webhooks and events. People stay registered and can still sign in, even if they belong to no
    other account. No events are sent to webhooks. Make a backup or an export first.

    It begins at once. An owner who deletes an account on its page can cancel that for 7 days, and
    so can bin/canopy account cancel-deletion.
    """
    row = find_account(account)
    counts = count_contents(row.id)
    contents = describe_contents(counts)
    question = f"Delete the account {row.name} ({row.slug}) with {contents} for good?"
    confirm_action(question, yes=yes, as_json=as_json)
    try:
        _delete_account(row.id)
    except KeyboardInterrupt:
        raise CommandError(
            "Interrupted. Nobody can use the account anymore. The worker deletes the rest of its "
            "data, or run the command again."
        ) from None
    record: dict[str, Any] = {"id": row.id, "slug": row.slug, "deleted": True}
    show_record(record | counts, as_json=as_json)


@click.command("cancel-deletion")
@click.argument("account", metavar="ACCOUNT")
@database_command(
    "account cancel-deletion green-woods", "account cancel-deletion green-woods --json"
)
def cancel_deletion(account: str, as_json: bool) -> None:
    """Cancel the deletion that an owner has scheduled.

    ACCOUNT is its id or slug. Its owners and admins are told by email. This is possible for 7 days,
    until the deletion begins.
    """
    row = find_account(account)
    with transaction():
        cancel_by_operator(row.id)
    show_record({"id": row.id, "slug": row.slug, "canceled": True}, as_json=as_json)


def _delete_account(account_id: str) -> None:
    queries.release_connection()
    with transaction():
        steps = delete_account(account_id)
        next(steps)
        db.session.commit()
        with suppress(NotFound):  # the job, which continues deletions, was faster
            for _ in steps:
                db.session.commit()
