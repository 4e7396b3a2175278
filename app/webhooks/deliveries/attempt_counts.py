"""Counts of attempts by hour, for the charts of webhooks.

A webhook may have a million entries in its log, all of which a chart of 30 days would have to read.
So the transaction that writes the entries also updates counts: one row for each webhook, hour,
outcome and rounded duration, some thousands in 30 days. The numbers are exact; durations are
rounded, which is enough for percentiles.
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


class CountKey(NamedTuple):
    """The key by which attempts are counted. Rows are written in its order, which begins with the
    webhook as elsewhere, so that two workers do not deadlock."""

    webhook_id: str
    account_id: str
    hour: datetime
    status: str
    took_ms: int


def add_attempt_counts(outcomes: Iterable[Outcome]) -> None:
    """Count attempts in the current transaction."""
    numbers = sorted(Counter(map(_count_key, outcomes)).items())
    if not numbers:
        return
    values = [{**key._asdict(), "number": number} for key, number in numbers]
    _counts_upsert(db.engine.dialect.name).run_many(values)


@cache
def _counts_upsert(_dialect: str) -> CompiledChange:
    insert = insert_into(AttemptCount)
    upsert = insert.on_conflict_do_update(
        index_elements=_KEY, set_={"number": AttemptCount.number + insert.excluded.number}
    )
    return CompiledChange(upsert, [*CountKey._fields, "number"])


def _count_key(outcome: Outcome) -> CountKey:
    """Return the key of an attempt. Durations of failures are not kept, as they say little."""
    delivery, hour = outcome.delivery, outcome.ended_at.replace(minute=0, second=0, microsecond=0)
    if outcome.error is not None:
        return CountKey(delivery.webhook_id, delivery.account_id, hour, "failed", 0)
    took_ms = round_up(round(outcome.seconds * 1000))
    return CountKey(delivery.webhook_id, delivery.account_id, hour, "success", took_ms)


def round_up(milliseconds: int) -> int:
    """Round milliseconds up to a step of LATENCY_STEPS. The last step has all longer durations."""
    return LATENCY_STEPS[min(bisect_left(LATENCY_STEPS, milliseconds), len(LATENCY_STEPS) - 1)]
