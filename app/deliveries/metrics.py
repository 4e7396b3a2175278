"""What the delivery job counts, kept in the store, where /metrics finds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from redis import Redis

from app.deliveries.types import Outcome
from app.jobs.valkey import valkey
from app.policy.deliveries import FailureReason

ATTEMPTS: Final = "canopy:deliveries:attempts"  # by outcome
RECEIPTS: Final = "canopy:deliveries:receipts"  # seconds from event to receipt: a histogram
BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_TROUBLES: Final = {str(trouble): trouble.name.lower() for trouble in FailureReason}


def record_metrics(outcomes: Iterable[Outcome]) -> None:
    """Count attempts. A store that is away costs the counts, and nothing else."""
    attempts: Counter[str] = Counter()
    receipts: Counter[str] = Counter()
    microseconds = 0
    for outcome in outcomes:
        attempts[_name(outcome)] += 1
        if (
            outcome.error is None
            and outcome.parcel.attempt == 1
            and outcome.parcel.cause == "event"
        ):
            waited = (outcome.ended_at - outcome.parcel.event_created_at).total_seconds()
            receipts[_bucket(waited)] += 1
            microseconds += int(max(waited, 0.0) * 1_000_000)

    def add(client: Redis) -> bool:
        pipeline = client.pipeline(transaction=False)
        for name, number in attempts.items():
            pipeline.hincrby(ATTEMPTS, name, number)
        for name, number in receipts.items():
            pipeline.hincrby(RECEIPTS, name, number)
        if microseconds:
            pipeline.hincrby(RECEIPTS, "microseconds", microseconds)
        pipeline.execute()
        return True

    valkey().attempt(add)


def _name(outcome: Outcome) -> str:
    if outcome.error is None:
        return "received"
    if outcome.status is not None:
        return f"answered_{outcome.status // 100}xx"
    return _TROUBLES.get(outcome.error, "fault")


def _bucket(seconds: float) -> str:
    return str(next((bucket for bucket in BUCKETS if seconds <= bucket), "+Inf"))
