"""No change without an entry.

A transaction of a request or a command is not committed if it changes what is in
``app.policy.audit.AUDITED`` without writing an entry of the audit log.
"""

from __future__ import annotations

from typing import Any, Final

from flask import Flask, has_request_context
from sqlalchemy import Connection, Delete, Insert, Update, event

from app.audit.origin import is_command
from app.db.extensions import db
from app.db.transaction_notes import open_transaction_notes
from app.db.transactions import Inserted
from app.policy.audit import AUDITED, DELETE, INSERT

# Notes about a transaction: the last changed table in AUDITED, and that an entry was written.
_CHANGED: Final = "audited change"
_ENTRIES: Final = "audit entry"


class MissingEntry(Exception):
    """A change without an entry: a bug."""


def init_app(app: Flask) -> None:
    """Watch the changes in the application's database."""
    with app.app_context():
        event.listen(db.engine, "after_execute", _watch_statement)


def note_entry() -> None:
    """Note that the open transaction has an entry."""
    open_transaction_notes()[_ENTRIES] = True


def covered_by_other_entry(reason: str) -> None:
    """Let the open transaction be committed without an entry: one of another transaction covers it,
    or nobody made the change.

    Args:
        reason: the reason, for readers of the code.
    """
    assert reason
    note_entry()


def _watch_statement(
    _: Connection, statement: Any, many: Any, single: Any, _options: Any, result: Any
) -> None:
    if isinstance(statement, Insert | Update | Delete):
        # With RETURNING, some drivers do not know the number of rows yet.
        if result.rowcount == 0 and not statement._returning:
            return
        columns = AUDITED.get(statement.table.name)  # type: ignore[union-attr]
        if columns is not None and not columns.isdisjoint(
            _written_columns(statement, many, single)
        ):
            open_transaction_notes()[_CHANGED] = statement.table.name  # type: ignore[union-attr]


def _is_audited(table: str) -> bool:
    return INSERT in AUDITED.get(table, ())


def _written_columns(statement: Any, many: Any, single: Any) -> set[str]:
    """Return ``INSERT``, ``DELETE``, or the columns that an UPDATE sets."""
    if isinstance(statement, Insert):
        return {INSERT}
    if isinstance(statement, Delete):
        return {DELETE}
    named = statement._values or single or (many[0] if many else ())
    return {getattr(column, "key", column) for column in named}


@event.listens_for(db.session, "before_commit")
def _require_entry(session: Any) -> None:
    if session.in_nested_transaction():
        return
    session.flush()
    marks = open_transaction_notes()
    inserted = (note.table for note in marks if isinstance(note, Inserted))
    changed = marks.pop(_CHANGED, None) or next(filter(_is_audited, inserted), None)
    has_entry = marks.pop(_ENTRIES, False)
    is_watched = has_request_context() or is_command()
    if changed and not has_entry and is_watched:
        raise MissingEntry(f"a change of the table {changed} has no entry in the audit log")
