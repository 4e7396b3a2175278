"""The current usage of an account, and the limits of its plan."""

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
    percentage,
    request_limit,
    update_counter_levels,
    update_requests_level,
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
# Returns everything needed to see which thresholds were crossed, so that one statement is enough.
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
    """What a project contributes to the counters."""

    status: str
    area_m2: int | None


def count_project(
    account_id: str, before: ProjectContribution | None, after: ProjectContribution | None
) -> None:
    """Update the counters for a changed project, in the current transaction.

    Emits the events of crossed thresholds, so emit the event of the change first. That event's
    foreign key to the account also serialises this transaction with ``set_plan``, which locks the
    account.

    Args:
        before: None if the project was created.
        after: None if the project was deleted.
    """
    if before == after:
        return
    changes = dict.fromkeys(_COUNTED, 0)
    for project, sign in ((before, -1), (after, 1)):
        if project is not None:
            changes[f"projects_{project.status}"] += sign
            if project.status != "archived":
                changes["area_m2"] += sign * (project.area_m2 or 0)
    _add(account_id, changes)


def count_member(account_id: str, change: int) -> None:
    """Add 1 or -1 to the counter of members, in the current transaction, after emitting the event.
    Invited people count."""
    _add(account_id, {"members": change})


def lock_counters(account_id: str) -> None:
    """Lock the account's counters until the end of the current transaction."""
    own = select(_USAGE.c.account_id).where(_USAGE.c.account_id == account_id)
    db.session.execute(own.with_for_update())


def recount(account_id: str) -> None:
    """Recompute all counters in the current transaction, after emitting the events of its changes.

    Exact despite concurrent changes: a transaction that has already updated the counters has ended
    before the lock is granted; any other is not visible here yet, and adds its change afterwards.
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
    """Check an account's usage against its plan, which has changed in the current transaction."""
    _add(account_id, {})
    update_requests_level(account_id, clock.now())


def counters(account_id: str) -> Any:
    """The columns of an account's counters."""
    return _COUNTERS.first(account_id=account_id)


def project_total(row: Any) -> int:
    """The number of projects of any status.

    Args:
        row: as in ``summary``.
    """
    return int(row.projects_active + row.projects_archived + row.projects_draft)


def summary(row: Any) -> dict[str, Any]:
    """The field ``usage`` of an account: hectares (without archived projects), projects, members.

    Args:
        row: a row of ``counters``, or an ``AccountUsage``.
    """
    return {
        "hectares": row.area_m2 / SQUARE_METRES,
        "projects": project_total(row),
        "members": row.members,
    }


def statistics(account_id: str, plan_name: str) -> dict[str, Any]:
    """The usage statistics for the current calendar month (UTC)."""
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


def _add(account_id: str, changes: dict[str, int]) -> None:
    _write(_ADD, account_id, changes)


def _write(statement: Any, account_id: str, counts: dict[str, int]) -> None:
    values = {f"new_{name}": counts.get(name, 0) for name in _COUNTED} | {"account": account_id}
    row = db.session.connection().execute(statement, values).one_or_none()
    if row is not None:
        update_counter_levels(account_id, row)


def _month(moment: datetime) -> tuple[datetime, datetime]:
    """The start of this month and of the next one."""
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=calendar.monthrange(start.year, start.month)[1])
