"""``bin/canopy plan``, and plans in words."""

from __future__ import annotations

from dataclasses import fields

from app.account.lookup import list_plans
from app.cli.context import database_command
from app.cli.group import Commands
from app.cli.output import show_records
from app.limits.plan_file import plan_of, plans
from app.policy.plans import BASE_PLAN, Plan

_COLUMNS = ("plan", *(field.name for field in fields(Plan)), "accounts")


plan = Commands("plan", help="List the plans that accounts can be on.")


@plan.command("list")
@database_command("plan list", "plan list --json")
def list_plans_command(as_json: bool) -> None:
    """List all plans and how many accounts are on each.

    A limit of - means no limit. A plan that accounts are on but that no longer exists is marked as
    missing; its accounts have the limits of free.
    """
    records = list_plans()
    if not as_json:
        for record in records:
            if "missing" in record:
                record["plan"] += f" (missing: has the limits of {BASE_PLAN})"
    show_records(records, _COLUMNS, as_json=as_json, none="There are no plans.")


def describe_plan(name: str) -> str:
    """Return a plan with its limits: ``free (1,000 ha, 3 members, 60 requests a minute, …)``."""
    limits = plan_of(name)
    unit = "" if limits.requests_per_minute else " requests"
    parts = [
        f"{number:,}{text}"
        for number, text in (
            (limits.hectares, " ha"),
            (limits.members, " member" if limits.members == 1 else " members"),
            (limits.requests_per_minute, " requests a minute"),
            (limits.requests_per_day, f"{unit} a day"),
            (limits.chat_questions_per_day, " chat questions a day"),
        )
        if number
    ]
    if not parts:
        return f"{name} (no limits)"
    others = "" if len(parts) == len(fields(Plan)) else "; no other limits"
    return f"{name} ({', '.join(parts)}{others})"


def larger_plan(name: str) -> str | None:
    """Return the plan after this one in the list of plans, or None for the last."""
    names = list(plans())
    following = names[names.index(name) + 1 :] if name in names else names
    return following[0] if following else None
