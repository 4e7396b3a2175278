"""Notes kept until the open transaction ends: what changed, and what to call after the commit.

Those of a savepoint that is rolled back are forgotten with it. Those of a savepoint that is
released stay until the end of the transaction.
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


def notes() -> Notes:
    """The notes of the open transaction, by the keys that their users give them: a text, or a
    dataclass of their own. Named tuples of two classes with the same values would be one key."""
    found: Notes = db.session.info.setdefault(_NOTED, {})
    return found


def take_notes() -> Notes:
    """Remove the notes of the open transaction. Returns them."""
    found: Notes = db.session.info.pop(_NOTED, {})
    return found


@event.listens_for(db.session, "after_transaction_create")
def _keep(session: Session, made: SessionTransaction) -> None:
    if made.nested:
        before = session.info.get(_NOTED, {})
        session.info.setdefault(_SAVEPOINTS, {})[made] = dict(before)


@event.listens_for(db.session, "after_soft_rollback")
def _forget(session: Session, previous: SessionTransaction) -> None:
    """``previous`` may be the transaction of a flush, which takes the savepoint around it along.
    Whoever made that one rolls it back a second time."""
    while previous.parent is not None and not previous.nested:
        previous = previous.parent
    if not previous.nested:
        session.info.pop(_NOTED, None)
    elif previous in (before := session.info[_SAVEPOINTS]):
        session.info[_NOTED] = before.pop(previous)


@event.listens_for(db.session, "after_commit")
def _release(session: Session) -> None:
    if released := session.get_nested_transaction():
        session.info[_SAVEPOINTS].pop(released)
