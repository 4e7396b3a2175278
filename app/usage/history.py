"""The limit of an account's history, and the day on which a full one has room again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from heapq import merge
from typing import Final

from sqlalchemy import bindparam, func, select

from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.queries import CompiledQuery
from app.http.errors import Forbidden
from app.models import AuditEntry, Delivery, Event
from app.policy.request_limits import EVENT_DAYS, HISTORY_ROW_BYTES
from app.settings.current import current_settings
from app.values import clock
from app.values.ids import time_of

_READ_ROWS: Final = 5_000  # events, and entries, to read for the day
_READ_AT_ONCE: Final = 100
_STEP_BYTES: Final = 1024  # imports ask for each feature: similar excesses share an answer
_DELIVERIES: Final = (
    select(func.count())
    .where(Delivery.account_id == bindparam("account_id"), Delivery.event_id == Event.id)
    .scalar_subquery()
)
_EVENTS: Final = CompiledQuery(
    columns_of(Event, Event.id)
    .add_columns(byte_length(Event.body) + (2 * _DELIVERIES + 1) * HISTORY_ROW_BYTES)
    .order_by(Event.id)
    .limit(_READ_ROWS)
)
_ENTRIES: Final = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.id)
    .add_columns(byte_length(AuditEntry.body) + HISTORY_ROW_BYTES)
    .where(AuditEntry.number.is_not(None))
    .order_by(AuditEntry.id)
    .limit(_READ_ROWS)
)


def history_limit() -> int | None:
    """The bytes of history from which an account's projects and assets cannot be created or
    changed; None for no limit."""
    return current_settings().max_history_bytes or None


def check_history(account_id: str, current: int) -> None:
    """Raise Forbidden if an account's history has more bytes than allowed.

    Args:
        current: the bytes, the change included.
    """
    limit = history_limit()
    if limit is not None and current > limit:
        steps = -(-(current - limit) // _STEP_BYTES)
        room = _room_again(account_id, steps * _STEP_BYTES, clock.now().date())
        message = (
            f"The events, audit log and deliveries of the account have {current:,} bytes with this "
            f"change, of at most {limit:,}. Events and deliveries are kept for {EVENT_DAYS} days, "
            f"and the audit log for {current_settings().audit_days}; no one can delete them "
            f"sooner. {room}"
        )
        raise Forbidden("history", f"The account's history is full. {room}", message)


@lru_cache(maxsize=256)
def _room_again(account_id: str, excess: int, today: date) -> str:
    """A sentence with the day until which ``excess`` bytes are deleted.

    Args:
        today: the day of the question, for the cache.
    """
    day = today
    for day, size in merge(
        _expiring_rows(_EVENTS, account_id, EVENT_DAYS),
        _expiring_rows(_ENTRIES, account_id, current_settings().audit_days),
    ):
        excess -= size
        if excess <= 0:
            return f"There is room again on {max(day, today)}."
    return f"There is no room before {max(day, today)}."


def _expiring_rows(rows: CompiledQuery, account_id: str, days: int) -> Iterator[tuple[date, int]]:
    """Yield the day on which each row will be deleted, and its bytes, the oldest first."""
    for batch in rows.stream(_READ_AT_ONCE, account_id=account_id):
        for row_id, size in batch:
            yield time_of(row_id).date() + timedelta(days=days), int(size)
