"""Usage thresholds: ``usage.*`` events when usage nears a limit of the plan, and exceeds it.

There is one threshold for each percentage in the policy, and one for exceeding the limit. The level
is the number of thresholds reached. An event is emitted whenever a threshold is reached, again if
usage fell below it meanwhile. The levels are stored with the account's counters, and change in the
transaction that changes the usage.
"""

from __future__ import annotations

import calendar
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Table, bindparam, func, select, update

from app.db.extensions import db
from app.events.outbox import EventActor, emit_event
from app.limits.plan_file import plan_of
from app.maintenance.history_bytes import take_history
from app.models import Account, AccountUsage, RequestCount
from app.policy.plans import USAGE_THRESHOLDS, Plan

SQUARE_METERS: Final = 10_000  # in a hectare


class Threshold(NamedTuple):
    """The event to emit when this percentage of a limit is reached or exceeded."""

    event_type: str
    percent: int


THRESHOLDS: Final = (
    *(Threshold("usage.threshold_reached", percent) for percent in USAGE_THRESHOLDS),
    Threshold("usage.limit_exceeded", 100),
)

_USAGE: Final = cast("Table", AccountUsage.__table__)
_MONTH: Final = (
    select(func.coalesce(func.sum(RequestCount.requests), 0))
    .where(
        RequestCount.account_id == bindparam("account"),
        RequestCount.day >= bindparam("first_day"),
        RequestCount.day <= bindparam("last_day"),
    )
    .scalar_subquery()
)
_REQUESTS: Final = (
    select(
        Account.name,
        Account.plan,
        AccountUsage.requests_level,
        AccountUsage.requests_period,
        _MONTH.label("requests"),
    )
    .join_from(AccountUsage, Account, Account.id == AccountUsage.account_id)
    .where(AccountUsage.account_id == bindparam("account"))
)


def _usage_level(current: int, limit: int | None) -> int:
    """The number of thresholds reached: 0 without a limit, all of them above it.

    Args:
        current, limit: in the same unit.
    """
    if limit is None:
        return 0
    reached = sum(100 * current >= percent * limit for percent in USAGE_THRESHOLDS)
    return reached + (current > limit)


def crossed_thresholds(
    current: int, limit: int | None, level: int
) -> tuple[tuple[Threshold, ...], int]:
    """Return the newly reached thresholds, lowest first, and the new level.

    Args:
        level: the previous level.
    """
    reached = _usage_level(current, limit)
    return THRESHOLDS[level:reached], reached


def percentage_of_limit(current: float, limit: int | None) -> float | None:
    """``current`` in percent of ``limit``, or None without one."""
    return round(100 * current / limit, 2) if limit else None


def update_counter_levels(account_id: str, row: Any) -> None:
    """Update the levels of hectares and members, and emit the events of newly reached thresholds.

    Args:
        row: the new counters and the previous levels, with the account's ``name`` and ``plan``.
    """
    plan = plan_of(row.plan)
    area_limit = None if plan.hectares is None else plan.hectares * SQUARE_METERS
    thresholds, level = crossed_thresholds(row.area_m2, area_limit, row.hectares_level)
    if level != row.hectares_level:
        _emit_thresholds(
            account_id, row.name, "hectares", thresholds, row.area_m2 / SQUARE_METERS, plan.hectares
        )
        _set_levels(account_id, hectares_level=level)
    thresholds, level = crossed_thresholds(row.members, plan.members, row.members_level)
    if level != row.members_level:
        _emit_thresholds(account_id, row.name, "members", thresholds, row.members, plan.members)
        _set_levels(account_id, members_level=level)


def update_requests_level(account_id: str, now: datetime) -> None:
    """Update the level of API requests, and emit the events of newly reached thresholds.

    Runs in the transaction that wrote the account's requests. Each threshold is reported once a
    month; months before the last reported one are ignored. If nothing has changed, this costs one
    statement and no lock.

    Args:
        now: a time in the month (UTC) of the requests.
    """
    if not _level_change(account_id, now):
        return
    # Lock out other jobs and changes of the plan, then look again.
    account = select(Account.id).where(Account.id == account_id)
    db.session.execute(account.with_for_update(read=True, key_share=True))
    own = select(_USAGE.c.account_id).where(_USAGE.c.account_id == account_id)
    db.session.execute(own.with_for_update())
    if change := _level_change(account_id, now):
        _emit_thresholds(
            account_id,
            change.name,
            "api_requests",
            change.thresholds,
            change.current,
            change.limit,
        )
        _set_levels(account_id, requests_level=change.level, requests_period=_period_name(now))


class _LevelChange(NamedTuple):
    """A new level of API requests, with the newly reached thresholds."""

    name: str  # the account's
    level: int
    thresholds: tuple[Threshold, ...]
    current: int
    limit: int | None


def _level_change(account_id: str, now: datetime) -> _LevelChange | None:
    """The new level of API requests, or None if it has not changed."""
    period, days = _period_name(now), calendar.monthrange(now.year, now.month)[1]
    row = db.session.execute(
        _REQUESTS,
        {"account": account_id, "first_day": f"{period}-01", "last_day": f"{period}-{days}"},
    ).one_or_none()
    if row is None or (row.requests_period or "") > period:
        return None
    limit = request_limit(plan_of(row.plan), days)
    before = row.requests_level if row.requests_period == period else 0
    current = int(row.requests)
    thresholds, level = crossed_thresholds(current, limit, before)
    return None if level == before else _LevelChange(row.name, level, thresholds, current, limit)


def request_limit(plan: Plan, days: int) -> int | None:
    """The requests that a plan allows in a month of this many days, or None without a limit."""
    return None if plan.requests_per_day is None else plan.requests_per_day * days


def _period_name(now: datetime) -> str:
    return now.strftime("%Y-%m")


def _set_levels(account_id: str, **levels: int | str) -> None:
    """Set levels, and count the events of the thresholds that were reached."""
    history = _USAGE.c.history_bytes + take_history(account_id)
    own = update(_USAGE).where(_USAGE.c.account_id == account_id)
    db.session.connection().execute(own.values(history_bytes=history, **levels))


def _emit_thresholds(
    account_id: str,
    account_name: str,
    metric: str,
    thresholds: tuple[Threshold, ...],
    current: float,
    limit: int | None,
) -> None:
    for threshold in thresholds:
        usage = {
            "id": account_id,
            "metric": metric,
            "threshold": threshold.percent,
            "current": current,
            "limit": limit,
            "percentage": percentage_of_limit(current, limit),
        }
        emit_event(threshold.event_type, usage, EventActor(account_id, account_name))
