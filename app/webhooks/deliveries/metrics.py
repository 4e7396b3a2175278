"""The metrics of deliveries. The worker counts attempts in Valkey, where the web server reads them;
the backlog is read from the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from redis import Redis
from sqlalchemy import column, text

from app.db import queries
from app.db.column_types import Timestamp
from app.jobs.valkey import valkey
from app.policy.deliveries import FailureReason
from app.values import clock
from app.webhooks.deliveries.types import Outcome

ATTEMPTS: Final = "canopy:deliveries:outcomes"  # hash: attempts by outcome
LATENCY: Final = "canopy:deliveries:latency"  # hash: seconds from event to delivery, a histogram
BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
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
    due: int  # and not claimed
    claimed: int
    oldest_due_seconds: float  # since the oldest unclaimed one became due


class Latency(NamedTuple):
    """A histogram of the time from an event to its delivery, when the first attempt succeeded."""

    buckets: list[tuple[str, int]]  # upper bound in seconds, and the cumulative count
    seconds: float  # sum


def record_metrics(outcomes: Iterable[Outcome]) -> None:
    """Count attempts. Nothing is counted while Valkey is down."""
    attempts: Counter[str] = Counter()
    latency: Counter[str] = Counter()
    for outcome in outcomes:
        delivery = outcome.delivery
        attempts[_label(outcome)] += 1
        if outcome.error is None and delivery.attempt == 1 and delivery.cause == "event":
            seconds = (outcome.ended_at - delivery.event_created_at).total_seconds()
            latency[_bucket(seconds)] += 1
            latency["microseconds"] += int(max(seconds, 0.0) * 1_000_000)

    def add(client: Redis) -> bool:
        pipeline = client.pipeline(transaction=False)
        for key, counts in ((ATTEMPTS, attempts), (LATENCY, latency)):
            for name, number in counts.items():
                pipeline.hincrby(key, name, number)
        pipeline.execute()
        return True

    valkey().attempt(add)


def read_backlog() -> Backlog:
    """The deliveries that are pending now, in all accounts."""
    now = clock.now()
    with queries.connect() as connection:
        row = connection.execute(_BACKLOG, {"now": clock.format_time(now)}).one()
    oldest = (now - row.oldest).total_seconds() if row.oldest else 0.0
    return Backlog(row.pending, row.due or 0, row.claimed, max(0.0, oldest))


def read_attempts() -> dict[str, int]:
    """Attempts by outcome, since Valkey was last emptied."""
    return {name: int(number) for name, number in _read_hash(ATTEMPTS).items()}


def read_latency() -> Latency:
    """The latency of deliveries, since Valkey was last emptied."""
    found = _read_hash(LATENCY)
    total, buckets = 0, []
    for bound in (*map(str, BUCKETS), "+Inf"):
        total += int(found.get(bound, 0))
        buckets.append((bound, total))
    return Latency(buckets, int(found.get("microseconds", 0)) / 1_000_000)


def _label(outcome: Outcome) -> str:
    if outcome.error is None:
        return "delivered"
    if outcome.status is not None:
        return f"answered_{outcome.status // 100}xx"
    return _LABELS.get(outcome.error, "fault")


def _bucket(seconds: float) -> str:
    return str(next((bucket for bucket in BUCKETS if seconds <= bucket), "+Inf"))


def _read_hash(key: str) -> Mapping[str, Any]:
    def read(client: Redis) -> dict[str, Any]:
        found: Any = client.hgetall(key)
        return {name.decode(): value for name, value in found.items()}

    return valkey().attempt(read) or {}
