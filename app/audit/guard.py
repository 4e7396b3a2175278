"""No change without its entry.

A transaction of a request or a command is not committed if it changes what
``app.policy.audit.AUDITED`` lists and has written no entry of the audit log.
"""

from __future__ import annotations

from typing import Any, Final

from flask import Flask, has_request_context
from sqlalchemy import Connection, Delete, Insert, Update, event

from app.audit.origin import is_command
from app.db.extensions import db
from app.db.transaction_notes import notes
from app.db.transactions import Inserted
from app.policy.audit import AUDITED, DELETE, INSERT

# What is noted of a transaction: the last table that was changed, and whether there is an entry.
_CHANGED: Final = "audited change"
_ENTRIES: Final = "audit entry"


class MissingEntry(Exception):
    """A change without an entry: a mistake in the code."""


def init_app(app: Flask) -> None:
    """Watch the changes that are sent to the application's database."""
    with app.app_context():
        event.listen(db.engine, "after_execute", _watch)


def note_entry() -> None:
    """Note that the open transaction has an entry."""
    notes()[_ENTRIES] = True


def covered_by_other_entry(reason: str) -> None:
    """Let the open transaction be committed without an entry: that of another transaction covers
    it, or nobody did it.

    Args:
        reason: for the reader of the code.
    """
    assert reason
    note_entry()


def _watch(_: Connection, statement: Any, many: Any, one: Any, _options: Any, result: Any) -> None:
    if isinstance(statement, Insert | Update | Delete):
        # With RETURNING, some drivers do not know the number of rows yet.
        if result.rowcount == 0 and not statement._returning:
            return
        columns = AUDITED.get(statement.table.name)  # type: ignore[union-attr]
        if columns is not None and not columns.isdisjoint(_written(statement, many, one)):
            notes()[_CHANGED] = statement.table.name  # type: ignore[union-attr]


def _is_audited(table: str) -> bool:
    return INSERT in AUDITED.get(table, ())


def _written(statement: Any, many: Any, one: Any) -> set[str]:
    """Return ``INSERT``, ``DELETE``, or the columns that an UPDATE sets, which the session passes
    as parameters."""
    if isinstance(statement, Insert):
        return {INSERT}
    if isinstance(statement, Delete):
        return {DELETE}
    named = statement._values or one or (many[0] if many else ())
    return {getattr(column, "key", column) for column in named}


@event.listens_for(db.session, "before_commit")
def _require_entry(session: Any) -> None:
    if session.in_nested_transaction():
        return
    session.flush()
    noted = notes()
    inserted = (note.table for note in noted if isinstance(note, Inserted))
    changed = noted.pop(_CHANGED, None) or next(filter(_is_audited, inserted), None)
    has_entry = noted.pop(_ENTRIES, False)
    is_watched = has_request_context() or is_command()
    if changed and not has_entry and is_watched:
        raise MissingEntry(f"a change of the table {changed} has no entry in the audit log")
