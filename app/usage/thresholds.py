"""When usage climbs towards a limit of the plan, and past it: ``usage.*`` events.

Usage stands on a ladder: one rung for each percentage of the policy, and one more above the limit.
The level is the number of rungs reached. A rung is told of when it is reached; below it, it is
forgotten, so that it is told of again next time. The levels are in the account's row of counters,
and change in the transaction of what changed the usage.
"""

from __future__ import annotations

import calendar
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Table, bindparam, func, select, update

from app.db.extensions import db
from app.limits.plan_file import plan_of
from app.models import Account, AccountUsage, RequestCount
from app.outbox import Actor, emit
from app.policy.plans import USAGE_THRESHOLDS, Plan

SQUARE_METRES: Final = 10_000  # of a hectare


class Threshold(NamedTuple):
    """What is told when this much of a limit, in percent, is reached or passed."""

    event_type: str
    threshold: int


LADDER: Final = (
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


def usage_level(current: int, limit: int | None) -> int:
    """How many rungs of the ladder are reached: 0 without a limit, 4 above it.

    Args:
        current, limit: in the same unit.
    """
    if limit is None:
        return 0
    reached = sum(100 * current >= percent * limit for percent in USAGE_THRESHOLDS)
    return reached + (current > limit)


def crossed(current: int, limit: int | None, level: int) -> tuple[tuple[Threshold, ...], int]:
    """The rungs to tell of now, from the lowest, and the new level.

    Args:
        level: the one before.
    """
    reached = usage_level(current, limit)
    return LADDER[level:reached], reached


def percentage(current: float, limit: int | None) -> float | None:
    """``current`` in percent of ``limit``, or None without one."""
    return round(100 * current / limit, 2) if limit else None


def tell_counted(account_id: str, row: Any) -> None:
    """Tell of the rungs of hectares and members that are reached now.

    Args:
        row: the counters as this transaction left them and the levels as they were, with the
            ``name`` and the ``plan`` of the account.
    """
    plan = plan_of(row.plan)
    area_limit = None if plan.hectares is None else plan.hectares * SQUARE_METRES
    rungs, level = crossed(row.area_m2, area_limit, row.hectares_level)
    if level != row.hectares_level:
        _set(account_id, hectares_level=level)
        _tell(account_id, row.name, "hectares", rungs, row.area_m2 / SQUARE_METRES, plan.hectares)
    rungs, level = crossed(row.members, plan.members, row.members_level)
    if level != row.members_level:
        _set(account_id, members_level=level)
        _tell(account_id, row.name, "members", rungs, row.members, plan.members)


def note_requests(account_id: str, now: datetime) -> None:
    """Tell of the rungs of API requests that are reached in the month of ``now`` (UTC), each once
    a month; in the transaction at hand, in which the account's requests were written.

    Of a month after which another one was told of, no more is told.

    An account that has reached no rung since costs one statement, which locks nothing.
    """
    if not _due(account_id, now):
        return
    # Another job, and a change of the plan, wait for this one from here; what they did meanwhile
    # is looked at again.
    account = select(Account.id).where(Account.id == account_id)
    db.session.execute(account.with_for_update(read=True, key_share=True))
    own = select(_USAGE.c.account_id).where(_USAGE.c.account_id == account_id)
    db.session.execute(own.with_for_update())
    if due := _due(account_id, now):
        _set(account_id, requests_level=due.level, requests_period=_period(now))
        _tell(account_id, due.name, "api_requests", due.rungs, due.current, due.limit)


class _Due(NamedTuple):
    """A new level of API requests."""

    name: str  # of the account
    level: int
    rungs: tuple[Threshold, ...]
    current: int
    limit: int | None


def _due(account_id: str, now: datetime) -> _Due | None:
    """The new level of API requests, if it is another one than that which was told of."""
    period, days = _period(now), calendar.monthrange(now.year, now.month)[1]
    row = db.session.execute(
        _REQUESTS,
        {"account": account_id, "first_day": f"{period}-01", "last_day": f"{period}-{days}"},
    ).one_or_none()
    if row is None or (row.requests_period or "") > period:
        return None
    limit = request_limit(plan_of(row.plan), days)
    before = row.requests_level if row.requests_period == period else 0
    current = int(row.requests)
    rungs, level = crossed(current, limit, before)
    return None if level == before else _Due(row.name, level, rungs, current, limit)


def request_limit(plan: Plan, days: int) -> int | None:
    """How many requests a plan allows in a month of so many days, or None without a limit."""
    return None if plan.requests_per_day is None else plan.requests_per_day * days


def _period(now: datetime) -> str:
    return now.strftime("%Y-%m")


def _set(account_id: str, **levels: int | str) -> None:
    own = update(_USAGE).where(_USAGE.c.account_id == account_id)
    db.session.connection().execute(own.values(levels))


def _tell(
    account_id: str,
    account_name: str,
    metric: str,
    rungs: tuple[Threshold, ...],
    current: float,
    limit: int | None,
) -> None:
    for rung in rungs:
        usage = {
            "id": account_id,
            "metric": metric,
            "threshold": rung.threshold,
            "current": current,
            "limit": limit,
            "percentage": percentage(current, limit),
        }
        emit(rung.event_type, usage, Actor(account_id, account_name))
