"""What an account uses now, against what its plan allows."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, update

from app.auth.tenant import columns_of
from app.core import clock
from app.core.database import reader
from app.extensions import db
from app.models import AccountUsage
from app.policy.plans import PLANS
from app.usage.requests import requests_on

_COUNTERS = columns_of(
    AccountUsage,
    AccountUsage.projects_active,
    AccountUsage.projects_archived,
    AccountUsage.projects_draft,
    AccountUsage.area_m2,
    AccountUsage.members,
)


def count_project(account_id: str, status: str, area_m2: int | None, change: int) -> None:
    """Count a project in (``change`` = 1) or out (-1), in the transaction at hand.

    A project that changes its status or its boundary is counted out as it was and in as it is.
    """
    column = getattr(AccountUsage, f"projects_{status}")
    values: dict[Any, Any] = {column: column + change}
    if status != "archived":
        values[AccountUsage.area_m2] = AccountUsage.area_m2 + change * (area_m2 or 0)
    _add(account_id, values)


def count_member(account_id: str, change: int) -> None:
    """Count a member in or out, in the transaction at hand. Invited people count."""
    _add(account_id, {AccountUsage.members: AccountUsage.members + change})


def counters(account_id: str, connection: Connection | None = None) -> Any:
    """The row of counters of an account, as plain columns."""
    return (connection or reader()).execute(_COUNTERS, {"account_id": account_id}).one()


def summary(account_id: str, connection: Connection | None = None) -> dict[str, Any]:
    """``account.usage``: hectares of projects that are not archived, all projects, members."""
    row = counters(account_id, connection)
    return {
        "hectares": row.area_m2 / 10_000,
        "projects": row.projects_active + row.projects_archived + row.projects_draft,
        "members": row.members,
    }


def statistics(account_id: str, plan_name: str) -> dict[str, Any]:
    """The usage statistics of the current calendar month (UTC)."""
    row = counters(account_id)
    plan = PLANS[plan_name]
    start, end = _month(clock.now())
    days = (end - start).days
    hectares = row.area_m2 / 10_000
    names = [(start + timedelta(days=day)).strftime("%Y-%m-%d") for day in range(days)]
    return {
        "period": {"start": clock.format_time(start), "end": clock.format_time(end)},
        "hectares": {
            "current": hectares,
            "limit": plan.hectares,
            "percentage": round(100 * hectares / plan.hectares, 2) if plan.hectares else None,
        },
        "projects": {
            "active": row.projects_active,
            "archived": row.projects_archived,
            "total": row.projects_active + row.projects_archived + row.projects_draft,
        },
        "members": {"current": row.members, "limit": plan.members},
        "api_requests": {
            "current": requests_on(account_id, names),
            "limit": plan.requests_per_day * days if plan.requests_per_day else None,
        },
    }


def _add(account_id: str, values: dict[Any, Any]) -> None:
    db.session.execute(
        update(AccountUsage).where(AccountUsage.account_id == account_id).values(values)
    )


def _month(moment: datetime) -> tuple[datetime, datetime]:
    """The first moment of this month and of the next one."""
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=calendar.monthrange(start.year, start.month)[1])
