"""The usage of an account in the current month, with the limits of its plan."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta
from typing import Any

from app.limits.plan_file import plan_of
from app.limits.request_counts import requests_on, today_utc
from app.usage.counters import byte_limit, project_total, read_counters
from app.usage.history import history_limit
from app.usage.thresholds import SQUARE_METERS, percentage_of_limit, request_limit
from app.values import clock


def usage_statistics(account_id: str, plan_name: str) -> dict[str, Any]:
    """Build the usage statistics of the current calendar month (UTC)."""
    row = read_counters(account_id)
    plan = plan_of(plan_name)
    start, end = _month_bounds(clock.now())
    days = (end - start).days
    hectares = row.area_m2 / SQUARE_METERS
    names = [(start + timedelta(days=day)).strftime("%Y-%m-%d") for day in range(days)]
    return {
        "period": {"start": clock.format_time(start), "end": clock.format_time(end)},
        "hectares": {
            "current": hectares,
            "limit": plan.hectares,
            "percentage": percentage_of_limit(hectares, plan.hectares),
        },
        "projects": {
            "active": row.projects_active,
            "archived": row.projects_archived,
            "draft": row.projects_draft,
            "total": project_total(row),
        },
        "members": {"current": row.members, "limit": plan.members},
        "api_requests": {
            "current": requests_on(account_id, names),
            "limit": request_limit(plan, days),
        },
        "stored_bytes": {"current": row.stored_bytes, "limit": byte_limit()},
        "history_bytes": {"current": row.history_bytes, "limit": history_limit()},
    }


def requests_today(account_id: str) -> int:
    """Count the requests of the account today (UTC)."""
    return requests_on(account_id, [today_utc()])


def _month_bounds(now: datetime) -> tuple[datetime, datetime]:
    """The start of this month and of the next."""
    start = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=calendar.monthrange(start.year, start.month)[1])
