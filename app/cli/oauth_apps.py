"""``bin/canopy oauth-app``: applications that act for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from app.account.lookup import find_account
from app.auth.tenant import account_of
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
from app.models import OAuthApplication
from app.oauth.applications.client_secrets import rotate_secret
from app.oauth.applications.service import (
    create_application,
    delete_application,
    list_applications,
    update_application,
)
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX
from app.policy.permissions import SCOPES
from app.values.ids import is_id

_COLUMNS = (
    *("client_id", "name", "scopes", "public", "redirect_uris", "former_secret_until"),
    "created_at",
)
_client_argument = click.argument("client_id", metavar="CLIENT_ID")


oauth_app = Commands("oauth-app", help="Register applications that act for people (OAuth 2.0).")


@oauth_app.command("create")
@account_option
@click.option(
    "--name", required=True, help="The name that people see when they are asked to consent."
)
@click.option(
    "--redirect-uri",
    "redirect_uris",
    multiple=True,
    required=True,
    metavar="URI",
    help="Where people are sent back to; can be repeated. A request must name one of these URIs "
    "exactly; only the port of a loopback address may differ.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(list(SCOPES)),
    help="What it may request; can be repeated.",
)
@click.option(
    "--public",
    is_flag=True,
    help="The application cannot keep a secret, as in a browser: it gets none and must use PKCE.",
)
@database_command(
    'oauth-app create --account green-woods --name "Map of Woods" '
    "--redirect-uri https://map.example.org/back --scope projects:read",
    'oauth-app create --account green-woods --name "Field notes" --public '
    "--redirect-uri http://127.0.0.1/back --scope assets:write --scope offline_access",
)
def create_application_command(account: str, as_json: bool, **values: Any) -> None:
    """Register an application and show its secret once."""
    with transaction():
        application, secret = create_application(find_account(account).id, **values)
        record = {"client_id": application.id, "client_secret": secret}
    show_record(record, as_json=as_json)


@oauth_app.command("list")
@account_option
@database_command("oauth-app list --account green-woods")
def list_applications_command(account: str, as_json: bool) -> None:
    """List an account's applications, newest first."""
    row = find_account(account)
    none = f"{row.name} has no applications."
    show_records(list_applications(row.id), _COLUMNS, as_json=as_json, none=none)


@oauth_app.command("update")
@_client_argument
@click.option("--name", help="The new name.")
@click.option(
    "--redirect-uri",
    "redirect_uris",
    multiple=True,
    metavar="URI",
    help="Replaces all redirect URIs; can be repeated.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(list(SCOPES)),
    help="Replaces all scopes; can be repeated.",
)
@database_command(
    'oauth-app update app_01k9zq3mgse2j7tbyw5c4r8nhd --name "Map of Woods"',
    "oauth-app update app_01k9zq3mgse2j7tbyw5c4r8nhd --redirect-uri https://map.example.org/new",
)
def update_application_command(
    client_id: str, name: str | None, as_json: bool, **lists: Sequence[str]
) -> None:
    """Change the name, redirect URIs or scopes of an application.

    When a scope is taken away, access that people gave with it ends, and they are asked again.
    """
    if name is None and not any(lists.values()):
        raise click.UsageError("Say what to change: --name, --redirect-uri or --scope.")
    with transaction():
        account_id = _find_application(client_id)["account_id"]
        given = {option: values or None for option, values in lists.items()}
        updated = update_application(account_id, client_id, name=name, **given)
    if updated is None:
        raise _unknown_application(client_id)
    record, revoked = updated
    show_record(record | {"revoked_consents": revoked}, as_json=as_json)


@oauth_app.command("rotate-secret")
@_client_argument
@click.option(
    "--overlap",
    "overlap_hours",
    type=click.IntRange(0, OVERLAP_HOURS_MAX),
    default=OVERLAP_HOURS_DEFAULT,
    show_default=True,
    metavar="HOURS",
    help="How long the present secret works beside the new one; 0: not at all.",
)
@database_command(
    "oauth-app rotate-secret app_01k9zq3mgse2j7tbyw5c4r8nhd",
    "oauth-app rotate-secret app_01k9zq3mgse2j7tbyw5c4r8nhd --overlap 0",
)
def rotate_secret_command(client_id: str, overlap_hours: int, as_json: bool) -> None:
    """Create a new secret for an application and show it once.

    The present secret works until the overlap is over. One that was replaced before is rejected
    from the next request on.
    """
    with transaction():
        rotated = rotate_secret(
            _find_application(client_id)["account_id"], client_id, overlap_hours=overlap_hours
        )
    if rotated is None:
        raise _unknown_application(client_id)
    record = {
        "client_id": client_id,
        "client_secret": rotated.secret,
        "former_secret_until": rotated.former_until,
    }
    show_record(record, as_json=as_json)


@oauth_app.command("delete")
@_client_argument
@yes_option
@database_command("oauth-app delete app_01k9zq3mgse2j7tbyw5c4r8nhd")
def delete_application_command(client_id: str, yes: bool, as_json: bool) -> None:
    """Delete an application and all access that people gave it.

    Its tokens are rejected from the next request on.
    """
    record = _find_application(client_id)
    question = f"Delete the application {record['name']!r} ({client_id}) for good?"
    confirm_action(question, yes=yes, as_json=as_json)
    with transaction():
        if not delete_application(record["account_id"], client_id):
            raise _unknown_application(client_id)
    show_record({"client_id": client_id, "deleted": True}, as_json=as_json)


def _find_application(client_id: str) -> dict[str, Any]:
    """Return the record of an application of any account. Raises CommandError if there is none."""
    if is_id("application", client_id):
        account_id = account_of(OAuthApplication, client_id)
        for record in list_applications(account_id) if account_id else ():
            if record["client_id"] == client_id:
                return record
    raise _unknown_application(client_id)


def _unknown_application(client_id: str) -> CommandError:
    return CommandError(f"There is no application with the client_id {client_id!r}.")
