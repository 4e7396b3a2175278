"""All events of an account, for files that have all of them."""

from __future__ import annotations

from typing import Final

from app.auth.tenant import columns_of
from app.lists.batches import Batches, KeyedRows, Readable
from app.models import Event
from app.values.strict_json import Fragment

_BATCH_ROWS: Final = 50  # one may have some 100 KB
_EVENTS: Final = KeyedRows(
    columns_of(Event, Event.body), Event.created_at, Event.id, batch_rows=_BATCH_ROWS
)


def scan_events(account_id: str) -> Readable[Fragment]:
    """The events as they were sent, the oldest first."""
    return Batches(_EVENTS, lambda row: Fragment(row.body), account_id=account_id)
