"""Comparing the counters of ``account_usage`` with the rows that they count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import URL, Connection, Table, func

from app.auth.tenant import select_of_all_accounts
from app.db.column_types import byte_length
from app.db.snapshots import snapshot
from app.db.transactions import Transaction, insert_row
from app.maintenance.history_bytes import note_history
from app.models import (
    Account,
    AccountUsage,
    Asset,
    AuditEntry,
    BoundaryEntry,
    Delivery,
    Event,
    Membership,
    Project,
)
from app.policy.request_limits import HISTORY_ROW_BYTES
from app.usage.counters import COUNTED, recount_usage

_USAGE: Final = cast("Table", AccountUsage.__table__)

_EVENTS: Final = select_of_all_accounts(
    Event.account_id, func.count(), func.sum(byte_length(Event.body))
)
_SEALED: Final = select_of_all_accounts(
    AuditEntry.account_id, func.count(), func.sum(byte_length(AuditEntry.body))
).where(AuditEntry.number.is_not(None))
_DELIVERIES: Final = select_of_all_accounts(Delivery.account_id, 2 * func.count())
_HISTORY: Final = (
    _EVENTS.group_by(Event.account_id),
    _SEALED.group_by(AuditEntry.account_id),
    _DELIVERIES.group_by(Delivery.account_id),
)

Counts = dict[str, int]


class WrongCounters(NamedTuple):
    """The counters of an account that are wrong; ``stored`` is None if it has no row of
    counters."""

    account_id: str
    stored: Counts | None
    actual: Counts


def wrong_counters(connection: Connection) -> Iterator[WrongCounters]:
    """Compare the counters of all accounts with the rows that they count, in the current
    transaction."""
    actual = _count(connection)
    stored = {
        row.account_id: _counts(row) for row in connection.execute(select_of_all_accounts(_USAGE))
    }
    for account_id in sorted(actual.keys() | stored.keys()):
        counts = actual.get(account_id, dict.fromkeys(COUNTED, 0))
        if stored.get(account_id) != counts:
            yield WrongCounters(account_id, stored.get(account_id), counts)


def wrong_histories(connection: Connection) -> Iterator[WrongCounters]:
    """Compare the bytes of the history of all accounts with its rows, in the current transaction.

    All of them are read, which may take minutes.
    """
    accounts = select_of_all_accounts(Account.id, func.coalesce(_USAGE.c.history_bytes, 0))
    sizes = Counter[str]()
    for statement in _HISTORY:
        for account_id, rows, *size in connection.execute(statement):
            sizes[account_id] += rows * HISTORY_ROW_BYTES + sum(map(int, size))
    for account_id, stored in connection.execute(accounts.outerjoin(_USAGE).order_by(Account.id)):
        if stored != sizes[account_id]:
            counted = {"history_bytes": stored}, {"history_bytes": sizes[account_id]}
            yield WrongCounters(account_id, *counted)


def correct_counters(url: URL, in_transaction: Transaction) -> list[WrongCounters]:
    """Correct wrong counters, those of an account in one transaction, and return them. Needs an app
    context on the same database.

    The history is long, so what its counter lacked when all of it was read is added.
    """
    with snapshot(url) as connection:
        found = _merged(list(wrong_counters(connection)), list(wrong_histories(connection)))
    for account_id, stored, actual in found:
        with in_transaction():
            if stored is None:
                insert_row(AccountUsage, {"account_id": account_id})
            lacking = actual.get("history_bytes", 0) - (stored or {}).get("history_bytes", 0)
            note_history(account_id, rows=0, size=lacking)
            recount_usage(account_id)
    return found


def _merged(*found: list[WrongCounters]) -> list[WrongCounters]:
    """Join what is wrong with the same account."""
    merged: dict[str, WrongCounters] = {}
    for account_id, stored, actual in chain(*found):
        before = merged.get(account_id, WrongCounters(account_id, {}, {}))
        both = None if stored is None or before.stored is None else before.stored | stored
        merged[account_id] = WrongCounters(account_id, both, before.actual | actual)
    return list(merged.values())


def _count(connection: Connection) -> dict[str, Counts]:
    """The actual counts, by account."""
    found: dict[str, Counts] = {}
    area: Any = func.coalesce(func.sum(Project.area_m2), 0)
    stored: Any = func.sum(Project.stored_bytes)
    is_kept = Project.deleted_at.is_(None)  # the others are being deleted, and count no more
    deleted = select_of_all_accounts(Project.id).where(~is_kept)
    by_status = select_of_all_accounts(
        Project.account_id, Project.status, func.count(), area, stored
    )
    for account_id, status, number, area_m2, size in connection.execute(
        by_status.where(is_kept).group_by(Project.account_id, Project.status)
    ):
        counts = found.setdefault(account_id, dict.fromkeys(COUNTED, 0))
        counts[f"projects_{status}"] = number
        counts["stored_bytes"] += int(size)
        if status != "archived":
            counts["area_m2"] += int(area_m2)
    metadata = select_of_all_accounts(Asset.account_id, func.sum(byte_length(Asset.metadata_json)))
    kept: Any = func.sum(BoundaryEntry.stored_bytes)
    former = select_of_all_accounts(BoundaryEntry.account_id, kept).where(
        BoundaryEntry.stored_bytes > 0
    )
    for others in (
        metadata.where(Asset.metadata_json.is_not(None), Asset.project_id.not_in(deleted)).group_by(
            Asset.account_id
        ),
        former.where(BoundaryEntry.project_id.not_in(deleted)).group_by(BoundaryEntry.account_id),
    ):
        for account_id, size in connection.execute(others):
            found.setdefault(account_id, dict.fromkeys(COUNTED, 0))["stored_bytes"] += int(size)
    members = select_of_all_accounts(Membership.account_id, func.count()).group_by(
        Membership.account_id
    )
    for account_id, number in connection.execute(members):
        found.setdefault(account_id, dict.fromkeys(COUNTED, 0))["members"] = number
    return found


def _counts(row: Any) -> Counts:
    return {name: getattr(row, name) for name in COUNTED}
