"""What became of deliveries: written after the attempts, for many at once.

Statements are about all accounts: this is the service's own work. Nothing here commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Table, bindparam, select, update

from app.db.extensions import db
from app.deliveries.types import ClaimedDelivery, Outcome
from app.models import Delivery, DeliveryLog

_DELIVERIES = cast("Table", Delivery.__table__)
_LOGS = cast("Table", DeliveryLog.__table__)

_RECEIVED = (
    update(_DELIVERIES)
    .where(_DELIVERIES.c.id.in_(bindparam("ids", expanding=True)))
    .values(state="succeeded", attempts=_DELIVERIES.c.attempts + 1, due_at=None, claim=None)
)
_FAILED = (
    update(_DELIVERIES)
    .where(_DELIVERIES.c.id == bindparam("delivery"), _DELIVERIES.c.claim == bindparam("run"))
    .values(
        state=bindparam("new_state"),
        attempts=bindparam("made"),
        due_at=bindparam("due"),
        claim=None,
    )
)


_MADE = select(_DELIVERIES.c.id, _DELIVERIES.c.attempts).where(
    _DELIVERIES.c.id.in_(bindparam("ids", expanding=True))
)


class Retry(NamedTuple):
    """What becomes of a delivery whose attempt failed."""

    parcel: ClaimedDelivery
    state: str
    due_at: datetime | None


def note_received(parcels: Iterable[ClaimedDelivery]) -> None:
    """They were received, whoever has claimed them meanwhile."""
    if ids := [parcel.id for parcel in parcels]:
        db.session.connection().execute(_RECEIVED, {"ids": ids})


def note_failed(run: str, retries: Iterable[Retry]) -> None:
    """They failed, and are tried again or not."""
    rows = [
        {
            "delivery": parcel.id,
            "run": run,
            "new_state": state,
            "made": parcel.attempt,
            "due": due_at,
        }
        for parcel, state, due_at in retries
    ]
    if rows:
        db.session.connection().execute(_FAILED, rows)


def unwritten(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those attempts that are not written down yet, when it is in doubt whether they were."""
    ids = [outcome.parcel.id for outcome in outcomes]
    rows = db.session.connection().execute(_MADE, {"ids": ids})
    made = {row.id: row.attempts for row in rows}
    return [each for each in outcomes if made.get(each.parcel.id, 0) < each.parcel.attempt]


def write_logs(rows: Sequence[Mapping[str, Any]]) -> None:
    """A row for each attempt."""
    if rows:
        db.session.connection().execute(_LOGS.insert(), list(rows))
