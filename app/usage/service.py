"""What an account uses now, against what its plan allows."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from sqlalchemy import Table, bindparam, func, select, update

from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.limits.plan_file import plan_of
from app.limits.request_counts import requests_on
from app.models import Account, AccountUsage, Membership, Project
from app.usage.thresholds import (
    SQUARE_METRES,
    note_requests,
    percentage,
    request_limit,
    tell_counted,
)
from app.values import clock

_COUNTERS = CompiledQuery(
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
_LEVELS = (_USAGE.c.area_m2, _USAGE.c.members, _USAGE.c.hectares_level, _USAGE.c.members_level)
_ACCOUNT = [
    select(column).where(Account.id == bindparam("account")).scalar_subquery().label(column.key)
    for column in (Account.name, Account.plan)
]
# Gives back all that says whether a threshold was crossed, so that one statement is enough.
_CHANGE = (
    update(_USAGE).where(_USAGE.c.account_id == bindparam("account")).returning(*_LEVELS, *_ACCOUNT)
)
_ADD = _CHANGE.values({name: _USAGE.c[name] + bindparam(f"new_{name}") for name in _COUNTED})
_SET = _CHANGE.values({name: bindparam(f"new_{name}") for name in _COUNTED})
_PROJECTS = (
    columns_of(Project, Project.status)
    .add_columns(func.count().label("projects"), func.sum(Project.area_m2).label("area_m2"))
    .group_by(Project.status)
)
_MEMBERS = columns_of(Membership).add_columns(func.count())


class ProjectContribution(NamedTuple):
    """What the counters need to know of a project."""

    status: str
    area_m2: int | None


def count_project(
    account_id: str, before: ProjectContribution | None, after: ProjectContribution | None
) -> None:
    """Count a project out as it was and in as it is, in the transaction at hand; None is a project
    that was not there, or is no more.

    Crossed thresholds are told of here, so the event of the change itself must be written before.
    It also makes a change of the plan wait for this transaction, or this one for that: an event
    refers to the account's row, which ``set_plan`` has locked.
    """
    if before == after:
        return
    more = dict.fromkeys(_COUNTED, 0)
    for project, change in ((before, -1), (after, 1)):
        if project is not None:
            more[f"projects_{project.status}"] += change
            if project.status != "archived":
                more["area_m2"] += change * (project.area_m2 or 0)
    _add(account_id, more)


def count_member(account_id: str, change: int) -> None:
    """Count a member in (``change`` = 1) or out (-1), in the transaction at hand, after its event.
    Invited people count."""
    _add(account_id, {"members": change})


def lock_counters(account_id: str) -> None:
    """Let whoever counts for the account wait for the end of the transaction at hand."""
    own = select(_USAGE.c.account_id).where(_USAGE.c.account_id == account_id)
    db.session.execute(own.with_for_update())


def recount(account_id: str) -> None:
    """Count all anew, in the transaction at hand, after the event of what was changed with SQL.

    Exact while others change projects too: who has counted already has ended before the lock was
    given, and who has not will count after it, what is not seen here yet.
    """
    lock_counters(account_id)
    counts = dict.fromkeys(_COUNTED, 0)
    for row in db.session.execute(_PROJECTS, {"account_id": account_id}):
        counts[f"projects_{row.status}"] = row.projects
        if row.status != "archived":
            counts["area_m2"] += int(row.area_m2 or 0)
    counts["members"] = db.session.execute(_MEMBERS, {"account_id": account_id}).scalar_one()
    _write(_SET, account_id, counts)


def check_thresholds(account_id: str) -> None:
    """Hold what an account uses against its plan, which has changed in the transaction at hand."""
    _add(account_id, {})
    note_requests(account_id, clock.now())


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
        "hectares": row.area_m2 / SQUARE_METRES,
        "projects": project_total(row),
        "members": row.members,
    }


def statistics(account_id: str, plan_name: str) -> dict[str, Any]:
    """The usage statistics of the current calendar month (UTC)."""
    row = counters(account_id)
    plan = plan_of(plan_name)
    start, end = _month(clock.now())
    days = (end - start).days
    hectares = row.area_m2 / SQUARE_METRES
    names = [(start + timedelta(days=day)).strftime("%Y-%m-%d") for day in range(days)]
    return {
        "period": {"start": clock.format_time(start), "end": clock.format_time(end)},
        "hectares": {
            "current": hectares,
            "limit": plan.hectares,
            "percentage": percentage(hectares, plan.hectares),
        },
        "projects": {
            "active": row.projects_active,
            "archived": row.projects_archived,
            "total": project_total(row),
        },
        "members": {"current": row.members, "limit": plan.members},
        "api_requests": {
            "current": requests_on(account_id, names),
            "limit": request_limit(plan, days),
        },
    }


def _add(account_id: str, more: dict[str, int]) -> None:
    _write(_ADD, account_id, more)


def _write(statement: Any, account_id: str, counts: dict[str, int]) -> None:
    values = {f"new_{name}": counts.get(name, 0) for name in _COUNTED} | {"account": account_id}
    row = db.session.connection().execute(statement, values).one_or_none()
    if row is not None:
        tell_counted(account_id, row)


def _month(moment: datetime) -> tuple[datetime, datetime]:
    """The first moment of this month and of the next one."""
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=calendar.monthrange(start.year, start.month)[1])
