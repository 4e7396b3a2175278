"""Turns of accounts: one with many waiting rows does not delay the others."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased


def next_in_turn(
    waiting: Select[Any], account: InstrumentedAttribute[Any], since: InstrumentedAttribute[Any]
) -> Select[Any]:
    """Return the statement that selects the row to lease next, and locks it. It skips locked rows.

    The row is the one that has waited longest, of the account whose last lease is the oldest.

    Args:
        waiting: selects the rows that may be leased, of a model with the column ``leased_at``.
        account: column with the account.
        since: column with the time since when a row waits.
    """
    others = aliased(account.class_)
    last_lease = select(func.max(others.leased_at)).where(getattr(others, account.key) == account)
    in_turn = waiting.order_by(last_lease.scalar_subquery().nulls_first(), since)
    return in_turn.limit(1).with_for_update(skip_locked=True)
