"""Counts of attempts by hour, for the charts of webhooks.

A webhook may have a million entries in its log, and a chart of 30 days would have to read them all,
from an index too. So the transaction that writes the entries also adds them to counts: one row for
each webhook, hour, outcome and rounded duration, some thousands in 30 days. They are exact, as both
are committed together; only durations are rounded, which is enough for percentiles.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.transactions import CompiledChange
from app.models import AttemptCount
from app.policy.deliveries import LATENCY_STEPS
from app.webhooks.deliveries.types import Outcome

_KEY: Final = (
    AttemptCount.webhook_id,
    AttemptCount.hour,
    AttemptCount.status,
    AttemptCount.took_ms,
)


class Counted(NamedTuple):
    """The key by which attempts are counted. Sorted by webhook, as the health of webhooks is, so
    that two workers do not deadlock."""

    webhook_id: str
    account_id: str
    hour: datetime
    status: str
    took_ms: int


def add_to_counts(outcomes: Iterable[Outcome]) -> None:
    """Count attempts in the current transaction."""
    numbers = sorted(Counter(map(_counted, outcomes)).items())
    if not numbers:
        return
    values = [{**counted._asdict(), "number": number} for counted, number in numbers]
    _adding(db.engine.dialect.name).run_many(values)


@cache
def _adding(_dialect: str) -> CompiledChange:
    row = insert_into(AttemptCount)
    added = row.on_conflict_do_update(
        index_elements=_KEY, set_={"number": AttemptCount.number + row.excluded.number}
    )
    return CompiledChange(added, [*Counted._fields, "number"])


def _counted(outcome: Outcome) -> Counted:
    """The key of an attempt. A failure has no duration: that of a refused connection says
    little."""
    delivery, hour = outcome.delivery, outcome.ended_at.replace(minute=0, second=0, microsecond=0)
    if outcome.error is not None:
        return Counted(delivery.webhook_id, delivery.account_id, hour, "failed", 0)
    took_ms = round_up(round(outcome.seconds * 1000))
    return Counted(delivery.webhook_id, delivery.account_id, hour, "success", took_ms)


def round_up(milliseconds: int) -> int:
    """A duration in milliseconds, rounded up to a step; the last step has all longer ones."""
    return LATENCY_STEPS[min(bisect_left(LATENCY_STEPS, milliseconds), len(LATENCY_STEPS) - 1)]
