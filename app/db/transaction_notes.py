"""Notes about the open transaction: what changed, and what to call after the commit.

A rollback to a savepoint discards the notes made since. Those of a released savepoint stay until
the end of the transaction.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.orm import Session, SessionTransaction

from app.db.extensions import db

_NOTED: Final = "canopy_noted"
_SAVEPOINTS: Final = "canopy_noted_before_savepoints"

Notes = dict[Hashable, Any]


def open_transaction_notes() -> Notes:
    """Return the notes of the open transaction. Their keys are texts or dataclasses of their users;
    named tuples of two classes with the same values would be one key."""
    open_notes: Notes = db.session.info.setdefault(_NOTED, {})
    return open_notes


def take_notes() -> Notes:
    """Remove the notes of the open transaction, and return them."""
    taken: Notes = db.session.info.pop(_NOTED, {})
    return taken


@event.listens_for(db.session, "after_transaction_create")
def _save_at_savepoint(session: Session, savepoint: SessionTransaction) -> None:
    if savepoint.nested:
        before = session.info.get(_NOTED, {})
        session.info.setdefault(_SAVEPOINTS, {})[savepoint] = dict(before)


@event.listens_for(db.session, "after_soft_rollback")
def _restore_after_rollback(session: Session, previous: SessionTransaction) -> None:
    """``previous`` may be the transaction of a flush, whose rollback includes the savepoint around
    it. The savepoint is then rolled back a second time."""
    while previous.parent is not None and not previous.nested:
        previous = previous.parent
    if not previous.nested:
        session.info.pop(_NOTED, None)
    elif previous in (before := session.info[_SAVEPOINTS]):
        session.info[_NOTED] = before.pop(previous)


@event.listens_for(db.session, "after_commit")
def _forget_savepoint(session: Session) -> None:
    if released := session.get_nested_transaction():
        session.info[_SAVEPOINTS].pop(released)
