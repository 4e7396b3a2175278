"""Accounts take turns, so that what one has waiting in numbers keeps nobody else waiting."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased


def next_in_turn(
    waiting: Select[Any], account: InstrumentedAttribute[Any], since: InstrumentedAttribute[Any]
) -> Select[Any]:
    """Select the row to lease next, and lock it; rows that others have locked are skipped.

    It is the one that has waited longest, of the account whose last lease is the oldest.

    Args:
        waiting: selects the rows that may be leased, of a model with the column ``leased_at``.
        account: the column that says whose turn a lease of the row is.
        since: the column that says since when a row waits.
    """
    others = aliased(account.class_)
    last_lease = select(func.max(others.leased_at)).where(getattr(others, account.key) == account)
    in_turn = waiting.order_by(last_lease.scalar_subquery().nulls_first(), since)
    return in_turn.limit(1).with_for_update(skip_locked=True)
