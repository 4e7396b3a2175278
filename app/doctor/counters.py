"""Comparing the counters in ``account_usage`` with the rows that they count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import URL, Connection, Table, func

from app.auth.tenant import select_of_all_accounts
from app.db.column_types import byte_length
from app.db.snapshots import open_snapshot
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

_NAMES: Final = (*COUNTED, "history_bytes")

Counts = dict[str, int]


class WrongCounters(NamedTuple):
    """The wrong counters of an account."""

    account_id: str
    stored: Counts | None  # None: the account has no row of counters
    actual: Counts


def wrong_counters(connection: Connection) -> Iterator[WrongCounters]:
    """Compare the counters of all accounts with their rows, in the current transaction. All events
    and sealed entries are read, which may take minutes."""
    actual = _count_by_account(connection)
    stored = select_of_all_accounts(Account.id, *(_USAGE.c[name] for name in _NAMES))
    for account_id, *numbers in connection.execute(stored.outerjoin(_USAGE).order_by(Account.id)):
        counts = None if numbers[0] is None else dict(zip(_NAMES, numbers, strict=True))
        if counts != actual[account_id]:
            yield WrongCounters(account_id, counts, actual[account_id])


def correct_counters(url: URL, in_transaction: Transaction) -> list[WrongCounters]:
    """Correct wrong counters, with a transaction for each account, and return them. Needs an app
    context on the same database.

    The history is too long to be read again, so the difference found before is added to its
    counter.
    """
    with open_snapshot(url) as connection:
        wrong = list(wrong_counters(connection))
    for account_id, stored, actual in wrong:
        with in_transaction():
            if stored is None:
                insert_row(AccountUsage, {"account_id": account_id})
            lacking = actual["history_bytes"] - (stored or {}).get("history_bytes", 0)
            note_history(account_id, rows=0, size=lacking)
            recount_usage(account_id)
    return wrong


def _count_by_account(connection: Connection) -> defaultdict[str, Counts]:
    """Return the actual counts by account."""
    by_account = defaultdict[str, Counts](lambda: dict.fromkeys(_NAMES, 0))
    area: Any = func.coalesce(func.sum(Project.area_m2), 0)
    stored: Any = func.sum(Project.stored_bytes)
    is_kept = Project.deleted_at.is_(None)  # the others are being deleted, and do not count
    deleted = select_of_all_accounts(Project.id).where(~is_kept)
    by_status = select_of_all_accounts(
        Project.account_id, Project.status, func.count(), area, stored
    )
    for account_id, status, number, area_m2, size in connection.execute(
        by_status.where(is_kept).group_by(Project.account_id, Project.status)
    ):
        counts = by_account[account_id]
        counts[f"projects_{status}"] = number
        counts["stored_bytes"] += int(size)
        if status != "archived":
            counts["area_m2"] += int(area_m2)
    metadata = select_of_all_accounts(Asset.account_id, func.sum(byte_length(Asset.metadata_json)))
    entry_bytes: Any = func.sum(BoundaryEntry.stored_bytes)
    former = select_of_all_accounts(BoundaryEntry.account_id, entry_bytes).where(
        BoundaryEntry.stored_bytes > 0
    )
    for others in (
        metadata.where(Asset.metadata_json.is_not(None), Asset.project_id.not_in(deleted)).group_by(
            Asset.account_id
        ),
        former.where(BoundaryEntry.project_id.not_in(deleted)).group_by(BoundaryEntry.account_id),
    ):
        for account_id, size in connection.execute(others):
            by_account[account_id]["stored_bytes"] += int(size)
    members = select_of_all_accounts(Membership.account_id, func.count()).group_by(
        Membership.account_id
    )
    for account_id, number in connection.execute(members):
        by_account[account_id]["members"] = number
    for statement in _HISTORY:
        for account_id, rows, *sizes in connection.execute(statement):
            bytes_of_rows = rows * HISTORY_ROW_BYTES + sum(map(int, sizes))
            by_account[account_id]["history_bytes"] += bytes_of_rows
    return by_account
