"""The counters of ``account_usage`` against what they count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import URL, Connection, Table, func, select

from app.db.snapshots import exclusive_writer
from app.models import AccountUsage, Membership, Project

NAMES: Final = ("projects_active", "projects_archived", "projects_draft", "area_m2", "members")
_USAGE: Final = cast("Table", AccountUsage.__table__)

Counts = dict[str, int]


class Difference(NamedTuple):
    """Counters of an account that are not what they should be; ``kept`` is None without a row."""

    account_id: str
    kept: Counts | None
    counted: Counts


def differences(connection: Connection) -> Iterator[Difference]:
    """Compare all accounts, in the transaction at hand."""
    counted = _count(connection)
    kept = {row.account_id: _counts(row) for row in connection.execute(select(_USAGE))}
    for account_id in sorted(counted.keys() | kept.keys()):
        right = counted.get(account_id, dict.fromkeys(NAMES, 0))
        if kept.get(account_id) != right:
            yield Difference(account_id, kept.get(account_id), right)


def correct(url: URL) -> list[Difference]:
    """Set wrong counters right. Whoever changes a project or a member waits meanwhile: each change
    counts, and none can between the counting and the writing."""
    with exclusive_writer(url, [_USAGE.name]) as connection:
        found = list(differences(connection))
        for account_id, kept, counted in found:
            if kept is None:
                statement: Any = _USAGE.insert().values(account_id=account_id, **counted)
            else:
                statement = _USAGE.update().where(_USAGE.c.account_id == account_id).values(counted)
            connection.execute(statement)
    return found


def _count(connection: Connection) -> dict[str, Counts]:
    """What the tables hold, by account."""
    found: dict[str, Counts] = {}
    area: Any = func.coalesce(func.sum(Project.area_m2), 0)
    by_status = select(Project.account_id, Project.status, func.count(), area)
    for account_id, status, number, area_m2 in connection.execute(
        by_status.group_by(Project.account_id, Project.status)
    ):
        counts = found.setdefault(account_id, dict.fromkeys(NAMES, 0))
        counts[f"projects_{status}"] = number
        if status != "archived":
            counts["area_m2"] += int(area_m2)
    members = select(Membership.account_id, func.count()).group_by(Membership.account_id)
    for account_id, number in connection.execute(members):
        found.setdefault(account_id, dict.fromkeys(NAMES, 0))["members"] = number
    return found


def _counts(row: Any) -> Counts:
    return {name: getattr(row, name) for name in NAMES}
