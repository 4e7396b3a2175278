"""What was published of a row: its events, as far as they are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from app.auth.tenant import rows_of
from app.database_webhook.table_adapter import TableAdapter
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import Event
from app.values.strict_json import loads_own

_ACCOUNT_OF_SUBJECT = CompiledQuery(
    select(Event.account_id)
    .where(Event.subject_id == bindparam("subject_id"))
    .order_by(Event.id.desc())
    .limit(1)
)


class LastPublished(NamedTuple):
    """The last event of a row."""

    is_deleted: bool
    data: dict[str, Any]


def account_of_subject(row_id: str) -> Any:
    """The ``account_id`` of the last event of a row, or None."""
    return _ACCOUNT_OF_SUBJECT.first(subject_id=row_id)


def last(account_id: str, subject_id: str) -> LastPublished | None:
    """The last event of a row, as far as events are kept."""
    own = rows_of(account_id, Event).where(Event.subject_id == subject_id)
    event = db.session.scalars(own.order_by(Event.id.desc()).limit(1)).first()
    if event is None:
        return None
    return LastPublished(event.type.endswith(".deleted"), loads_own(event.body.encode())["data"])


def was_created(rows: TableAdapter, account_id: str, subject_id: str) -> bool:
    """Whether an event says that the row was created, as far as events are kept."""
    own = rows_of(account_id, Event).where(
        Event.subject_id == subject_id, Event.type == f"{rows.name}.created"
    )
    return db.session.scalars(own.limit(1)).first() is not None
