"""The metrics of deliveries: attempts, counted in Valkey, and the backlog in the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from sqlalchemy import column, text

from app.db import queries
from app.db.column_types import Timestamp
from app.jobs.shared_metrics import Additions
from app.jobs.valkey import valkey
from app.outbound.switch import is_outbound_off
from app.policy.deliveries import FailureReason
from app.values import clock
from app.values.ids import time_of
from app.webhooks.deliveries.types import Outcome

_LABELS: Final = {str(reason): reason.name.lower() for reason in FailureReason}
_BACKLOG: Final = text(
    """
    SELECT count(*) AS pending, count(claim) AS claimed,
        sum(CASE WHEN claim IS NULL AND due_at <= :now THEN 1 ELSE 0 END) AS due,
        min(CASE WHEN claim IS NULL THEN due_at END) AS oldest
    FROM deliveries WHERE due_at IS NOT NULL
    """
).columns(column("pending"), column("claimed"), column("due"), column("oldest", Timestamp))


class Backlog(NamedTuple):
    """The numbers of pending deliveries."""

    pending: int
    due: int  # and unclaimed
    claimed: int
    oldest_due_seconds: float  # since the first unclaimed one became due


def count_attempts(outcomes: Iterable[Outcome]) -> None:
    """Count attempts. Nothing is counted while Valkey is down."""
    additions = Additions()
    for outcome in outcomes:
        delivery = outcome.delivery
        additions.count("canopy_delivery_attempts_total", _outcome_label(outcome))
        if outcome.error is None and delivery.attempt == 1 and delivery.cause == "event":
            seconds = (outcome.ended_at - time_of(delivery.event_id)).total_seconds()
            additions.observe("canopy_delivery_latency_seconds", seconds=seconds)
    valkey().attempt(additions.write)


def read_backlog() -> Backlog:
    """Return the numbers of pending deliveries in all accounts. None is due while all are held."""
    now, is_off = clock.now(), is_outbound_off()
    with queries.reading_connection() as connection:
        row = connection.execute(_BACKLOG, {"now": clock.format_time(now)}).one()
    oldest = (now - row.oldest).total_seconds() if row.oldest and not is_off else 0.0
    return Backlog(row.pending, 0 if is_off else row.due or 0, row.claimed, max(0.0, oldest))


def _outcome_label(outcome: Outcome) -> str:
    if outcome.error is None:
        return "delivered"
    if outcome.status is not None:
        return f"answered_{outcome.status // 100}xx"
    return _LABELS.get(outcome.error, "fault")
