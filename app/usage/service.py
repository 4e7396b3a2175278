"""What an account uses now, against what its plan allows."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, update

from app.auth.tenant import columns_of
from app.core import clock
from app.core.reading import Prepared
from app.extensions import db
from app.models import AccountUsage
from app.policy.plans import PLANS
from app.usage.requests import requests_on

_COUNTERS = Prepared(
    columns_of(
        AccountUsage,
        AccountUsage.projects_active,
        AccountUsage.projects_archived,
        AccountUsage.projects_draft,
        AccountUsage.area_m2,
        AccountUsage.members,
    )
)


_COUNTED = ("projects_active", "projects_archived", "projects_draft", "area_m2", "members")
_USAGE = cast("Table", AccountUsage.__table__)
_ADD = (
    update(_USAGE)
    .where(_USAGE.c.account_id == bindparam("account"))
    .values({name: _USAGE.c[name] + bindparam(f"more_{name}") for name in _COUNTED})
)


def count_project(account_id: str, status: str, area_m2: int | None, change: int) -> None:
    """Count a project in (``change`` = 1) or out (-1), in the transaction at hand.

    A project that changes its status or its boundary is counted out as it was and in as it is.
    """
    area = 0 if status == "archived" else change * (area_m2 or 0)
    _add(account_id, {f"projects_{status}": change, "area_m2": area})


def count_member(account_id: str, change: int) -> None:
    """Count a member in or out, in the transaction at hand. Invited people count."""
    _add(account_id, {"members": change})


def counters(account_id: str) -> Any:
    """The row of counters of an account, as plain columns."""
    return _COUNTERS.first(account_id=account_id)


def project_total(row: Any) -> int:
    """How many projects an account has, whatever their status; the row as in ``summary``."""
    return int(row.projects_active + row.projects_archived + row.projects_draft)


def summary(row: Any) -> dict[str, Any]:
    """``account.usage``: hectares of projects that are not archived, all projects, members.

    Args:
        row: what ``counters`` gives, or an ``AccountUsage``.
    """
    return {
        "hectares": row.area_m2 / 10_000,
        "projects": project_total(row),
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
            "total": project_total(row),
        },
        "members": {"current": row.members, "limit": plan.members},
        "api_requests": {
            "current": requests_on(account_id, names),
            "limit": plan.requests_per_day * days if plan.requests_per_day else None,
        },
    }


def _add(account_id: str, more: dict[str, int]) -> None:
    values = {f"more_{name}": more.get(name, 0) for name in _COUNTED}
    db.session.connection().execute(_ADD, {"account": account_id} | values)


def _month(moment: datetime) -> tuple[datetime, datetime]:
    """The first moment of this month and of the next one."""
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=calendar.monthrange(start.year, start.month)[1])
