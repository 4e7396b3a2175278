"""``bin/canopy account show``: the details of an account."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from app.account.credentials.service import list_credentials
from app.account.deletion.schedule import scheduled_deletion
from app.account.lookup import find_account, read_account
from app.account.members.service import list_members
from app.auth.credentials import has_ended
from app.cli.context import database_command
from app.cli.output import format_cell, show_json, show_record, show_section
from app.cli.plans import describe_plan
from app.limits.plan_file import plan_of
from app.oauth.applications.service import list_applications
from app.usage.statistics import usage_statistics
from app.values.clock import format_optional_time
from app.webhooks.service import list_webhooks

_MEMBER_COLUMNS = ("id", "email", "name", "role", "joined_at", "last_active_at")
_WEBHOOK_COLUMNS = ("id", "url", "events", "status")


@click.command("show")
@click.argument("account", metavar="ACCOUNT")
@database_command("account show green-woods", "account show green-woods --json")
def show(account: str, as_json: bool) -> None:
    """Show an account with its plan, usage, members and webhooks.

    ACCOUNT is its id or slug.
    """
    details = _account_details(find_account(account).id)
    if as_json:
        show_json(details)
        return
    show_record(_for_people(details), as_json=False)
    show_section("Members", details["members"], _MEMBER_COLUMNS)
    show_section("Webhooks", details["webhooks"], _WEBHOOK_COLUMNS)


def _account_details(account_id: str) -> dict[str, Any]:
    record = read_account(account_id)
    keys, tokens = (list_credentials(account_id, kind) for kind in ("api_key", "service_token"))
    deletion = scheduled_deletion(account_id)
    return {
        **record,
        "deletes_at": format_optional_time(deletion and deletion.deletes_at),
        "limits": asdict(plan_of(record["plan"])),
        "usage": usage_statistics(account_id, record["plan"]),
        "members": list_members(account_id),
        "api_keys": _count_valid(keys),
        "service_tokens": _count_valid(tokens),
        "applications": len(list_applications(account_id)),
        "webhooks": list_webhooks(account_id),
    }


def _for_people(details: dict[str, Any]) -> dict[str, Any]:
    usage = details["usage"]
    record = {name: details[name] for name in ("id", "slug", "name", "type", "created_at")}
    if details["deletes_at"]:
        record["will be deleted"] = details["deletes_at"]
    projects = usage["projects"]
    return record | {
        "plan": describe_plan(details["plan"]),
        "hectares": _with_limit(usage["hectares"]),
        "projects": f"{projects['total']:,}, of which {projects['archived']:,} archived",
        "members": _with_limit(usage["members"]),
        "requests": f"{_with_limit(usage['api_requests'])} this month",
        "stored bytes": _with_limit(usage["stored_bytes"]),
        "history bytes": _with_limit(usage["history_bytes"]),
        "api keys": details["api_keys"],
        "service tokens": details["service_tokens"],
        "applications": details["applications"],
    }


def _with_limit(use: dict[str, Any]) -> str:
    """Return ``12 of 1,000``, or the current number if there is no limit."""
    current = format_cell(use["current"])
    return current if use["limit"] is None else f"{current} of {use['limit']:,}"


def _count_valid(credentials: list[dict[str, Any]]) -> int:
    return sum(not has_ended(credential) for credential in credentials)
