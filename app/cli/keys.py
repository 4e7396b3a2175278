"""``bin/canopy key`` and ``bin/canopy service-token``: the credentials of programs. They have
nearly the same commands."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import click

from app.account.credentials.service import create_credential, list_credentials, revoke_credential
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
from app.models import Credential
from app.policy.permissions import PERMISSIONS
from app.policy.request_limits import KEY_DAYS
from app.values import clock
from app.values.command_name import canopy_command
from app.values.ids import is_id


class CredentialKind(NamedTuple):
    """One of the two kinds of credential, with its names."""

    kind: str  # in the database
    command: str
    field: str  # has the secret
    title: str
    article: str


KEY: Final = CredentialKind("api_key", "key", "key", "API key", "an")
SERVICE_TOKEN: Final = CredentialKind(
    "service_token", "service-token", "token", "service token", "a"
)
_OTHER: Final = {KEY: SERVICE_TOKEN, SERVICE_TOKEN: KEY}

_COLUMNS = (
    "id", "name", "permissions", "project_ids", "ends_with", "created_at", "expires_at",
    "last_used_at", "last_used_address", "revoked_at",
)  # fmt: skip
_name_option = click.option("--name", required=True, help="What it is for, such as “Ana’s QGIS”.")
_permission_option = click.option(
    "--permission",
    "permissions",
    multiple=True,
    required=True,
    type=click.Choice(list(PERMISSIONS)),
    help="What it may do; can be repeated. A :write includes its :read, and admin everything.",
)


key = Commands("key", help="Create, list and revoke API keys.")
service_token = Commands("service-token", help="Create, list and revoke service tokens.")

_project_option = click.option(
    "--project",
    "project_ids",
    multiple=True,
    metavar="PROJECT_ID",
    help="A project that it is limited to; can be repeated. By default, it sees all projects.",
)


def _key_expiry(context: click.Context, option: click.Parameter, days: str) -> datetime | None:
    """Return when a new key ends; None: never."""
    if days == "never":
        return None
    number = click.IntRange(1, 36_500)(days, option, context)
    return clock.now() + timedelta(days=number)


@key.command("create")
@account_option
@_name_option
@_permission_option
@_project_option
@click.option(
    "--expires-in",
    "expires_at",
    default=str(KEY_DAYS),
    show_default=True,
    callback=_key_expiry,
    metavar="DAYS",
    help="After this many days it is rejected; 'never' makes one that does not expire.",
)
@database_command(
    "key create --account green-woods --name laptop --permission admin",
    "key create --account green-woods --name map "
    "--permission projects:read --permission assets:read",
    "key create --account green-woods --name auditor --permission projects:read "
    "--project proj_01k9zq3mgse2j7tbyw5c4r8nhd --expires-in 90",
)
def create_key(account: str, as_json: bool, **values: Any) -> None:
    """Create an API key and show it once.

    It ends after a year, unless --expires-in says otherwise.
    """
    _create_key(KEY, account, as_json, **values)


@service_token.command("create")
@account_option
@_name_option
@_permission_option
@_project_option
@click.option(
    "--allow",
    "ip_allowlist",
    multiple=True,
    metavar="CIDR",
    help="IP address or network from which it may be used; can be repeated. "
    "By default, it may be used from anywhere.",
)
@database_command(
    "service-token create --account green-woods --name nightly --permission projects:write",
    "service-token create --account green-woods --name ci --permission projects:read "
    "--allow 10.0.0.0/8 --allow 2001:db8::/32",
)
def create_token(account: str, as_json: bool, **values: Any) -> None:
    """Create a service token and show it once.

    The token does not expire.
    """
    _create_key(SERVICE_TOKEN, account, as_json, **values)


def _create_key(kind: CredentialKind, account: str, as_json: bool, **values: Any) -> None:
    """Create a credential with these fields of ``NewCredential``, and show it."""
    values["project_ids"] = values["project_ids"] or None
    with transaction():
        account_id = find_account(account).id
        credential, secret = create_credential(account_id, kind=kind.kind, **values)
        record: dict[str, Any] = {"id": credential.id, kind.field: secret}
        if kind is KEY:
            record["expires_at"] = clock.format_optional_time(credential.expires_at)
    show_record(record, as_json=as_json)


def _list_command(kind: CredentialKind) -> click.Command:
    text = f"List an account's {kind.title}s, newest first.\n\nRevoked ones are listed too."

    @click.command("list")
    @account_option
    @database_command(f"{kind.command} list --account green-woods", text=text)
    def list_(account: str, as_json: bool) -> None:
        row = find_account(account)
        columns = (*_COLUMNS, "ip_allowlist") if kind is SERVICE_TOKEN else _COLUMNS
        records, none = list_credentials(row.id, kind.kind), f"{row.name} has no {kind.title}."
        show_records(records, columns, as_json=as_json, none=none)

    return list_


def _revoke_command(kind: CredentialKind) -> click.Command:
    example = {
        KEY: "key_01k9zq3mgse2j7tbyw5c4r8nhd",
        SERVICE_TOKEN: "svc_01k9zq3mgse2j7tbyw5c4r8nhd",
    }
    text = f"""Revoke {kind.article} {kind.title} for good.

    It is rejected from the next request on.
    """

    @click.command("revoke")
    @click.argument("credential_id", metavar="ID")
    @yes_option
    @database_command(f"{kind.command} revoke {example[kind]}", text=text)
    def revoke(credential_id: str, yes: bool, as_json: bool) -> None:
        record = _find_credential(kind, credential_id)
        if record["revoked_at"] is None:
            title = f"{kind.title} {record['name']!r} ({credential_id})"
            confirm_action(f"Revoke the {title} for good?", yes=yes, as_json=as_json)
            with transaction():
                revoke_credential(record["account_id"], kind.kind, credential_id)
            record = _find_credential(kind, credential_id)
        show_record({name: record[name] for name in ("id", "revoked_at")}, as_json=as_json)

    return revoke


def _find_credential(kind: CredentialKind, credential_id: str) -> dict[str, Any]:
    """Return the record of a credential of any account. Raises CommandError if there is none."""
    if is_id(kind.kind, credential_id):
        account_id = account_of(Credential, credential_id)
        records = list_credentials(account_id, kind.kind) if account_id else []
        for record in records:
            if record["id"] == credential_id:
                return record
    hint = ""
    other = _OTHER[kind]
    if is_id(other.kind, credential_id):
        revoke = canopy_command(f"{other.command} revoke {credential_id}")
        hint = f" It looks like a {other.title}: {revoke}"
    raise CommandError(f"There is no {kind.title} with the id {credential_id!r}.{hint}")


for _group, _kind in ((key, KEY), (service_token, SERVICE_TOKEN)):
    _group.add_command(_list_command(_kind))
    _group.add_command(_revoke_command(_kind))

commands = [key, service_token]
