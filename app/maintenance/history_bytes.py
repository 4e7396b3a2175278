"""The bytes of an account's history: its events, audit entries and deliveries, which nobody can
delete.

They are counted in the transaction that writes or prunes the rows: with the counters that a change
of a project or asset updates anyway, or else before the commit. Audit entries are counted when they
are sealed, so that writing one locks no counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import BigInteger, Table, bindparam, event, update

from app.db.extensions import db
from app.db.transaction_notes import open_transaction_notes
from app.models import AccountUsage
from app.policy.audit import INSTANCE
from app.policy.request_limits import HISTORY_ROW_BYTES

_USAGE: Final = cast("Table", AccountUsage.__table__)
_ADD: Final = (
    update(_USAGE)
    .where(_USAGE.c.account_id == bindparam("account"))
    .values(history_bytes=_USAGE.c.history_bytes + bindparam("added", type_=BigInteger))
)


@dataclass(frozen=True, order=True)
class _Added:
    """The key of the note with the bytes that a transaction adds to an account's history."""

    account_id: str


def note_history(account_id: str, rows: int, size: int = 0) -> None:
    """Note rows that the open transaction writes, or deletes (negative numbers).

    Args:
        rows: their number; a delivery counts as two, with its entry in the log of its webhook.
        size: the bytes of their bodies.
    """
    noted, key = open_transaction_notes(), _Added(account_id)
    noted[key] = noted.get(key, 0) + rows * HISTORY_ROW_BYTES + size


def take_history(account_id: str) -> int:
    """Remove and return the noted bytes of an account; the caller counts them."""
    return int(open_transaction_notes().pop(_Added(account_id), 0))


@event.listens_for(db.session, "before_commit")
def _count_rest(session: Any) -> None:
    if session.in_nested_transaction():
        return
    # Sorted to avoid deadlocks.
    keys = sorted(key for key in open_transaction_notes() if isinstance(key, _Added))
    if keys:
        session.flush()  # writes the counters of a new account
    for key in keys:
        added = take_history(key.account_id)
        if added and key.account_id != INSTANCE:
            session.connection().execute(_ADD, {"account": key.account_id, "added": added})
