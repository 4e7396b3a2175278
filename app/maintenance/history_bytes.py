"""The bytes of an account's history: its events, entries of the audit log and deliveries, which no
one can delete.

They are counted in the transaction that writes or prunes the rows: a change of a project or an
asset adds them to the counters that it updates anyway, and any other transaction before its commit.
Entries are counted when they are sealed: writing one, such as that of a sign-in, waits for nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import BigInteger, Table, bindparam, event, update

from app.db.extensions import db
from app.db.transaction_notes import notes
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
    """The key of a note: the bytes that the open transaction adds to an account's history."""

    account_id: str


def note_history(account_id: str, rows: int, size: int = 0) -> None:
    """Note rows that the open transaction writes; negative numbers are rows that it deletes.

    Args:
        rows: their number; a delivery is two, as it gets an entry in the log of its webhook.
        size: the bytes of their bodies.
    """
    found, key = notes(), _Added(account_id)
    found[key] = found.get(key, 0) + rows * HISTORY_ROW_BYTES + size


def take_history(account_id: str) -> int:
    """Return the noted bytes of an account, for the caller to count, and forget the note."""
    return int(notes().pop(_Added(account_id), 0))


@event.listens_for(db.session, "before_commit")
def _count_rest(session: Any) -> None:
    if session.in_nested_transaction():
        return
    # Sorted, so that no two transactions wait for each other.
    keys = sorted(key for key in notes() if isinstance(key, _Added))
    if keys:
        session.flush()  # the counters of a new account
    for key in keys:
        added = take_history(key.account_id)
        if added and key.account_id != INSTANCE:
            session.connection().execute(_ADD, {"account": key.account_id, "added": added})
