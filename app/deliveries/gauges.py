"""What waits to be delivered and what was, for /metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from redis import Redis
from sqlalchemy import column, text

from app.db import queries
from app.db.column_types import Timestamp
from app.deliveries.metrics import ATTEMPTS, BUCKETS, RECEIPTS
from app.jobs.valkey import valkey
from app.values import clock

_BACKLOG: Final = text(
    """
    SELECT count(*) AS pending, count(claim) AS claimed,
        sum(CASE WHEN claim IS NULL AND due_at <= :now THEN 1 ELSE 0 END) AS due,
        min(CASE WHEN claim IS NULL THEN due_at END) AS oldest
    FROM deliveries WHERE due_at IS NOT NULL
    """
)
_WAITING: Final = _BACKLOG.columns(
    column("pending"), column("claimed"), column("due"), column("oldest", Timestamp)
)


class Backlog(NamedTuple):
    """What is to be delivered, in numbers."""

    pending: int
    due: int  # and in nobody's hand
    claimed: int
    late_seconds: float  # since when the oldest of those is due


class Receipts(NamedTuple):
    """How long it took from an event to its receipt at the first attempt: a histogram."""

    buckets: list[tuple[str, int]]  # upper bound in seconds, and how many were no slower
    seconds: float  # in all


def backlog() -> Backlog:
    """What waits now, in all accounts."""
    moment = clock.now()
    with queries.connect() as connection:
        row = connection.execute(_WAITING, {"now": clock.format_time(moment)}).one()
    late = (moment - row.oldest).total_seconds() if row.oldest else 0.0
    return Backlog(row.pending, row.due or 0, row.claimed, max(0.0, late))


def attempts() -> dict[str, int]:
    """Attempts by outcome, since the store was last emptied."""
    return {name: int(number) for name, number in _hash(ATTEMPTS).items()}


def receipts() -> Receipts:
    """Likewise, of the times to receipt."""
    found = _hash(RECEIPTS)
    total, buckets = 0, []
    for bound in (*map(str, BUCKETS), "+Inf"):
        total += int(found.get(bound, 0))
        buckets.append((bound, total))
    return Receipts(buckets, int(found.get("microseconds", 0)) / 1_000_000)


def _hash(name: str) -> Mapping[str, Any]:
    def read(client: Redis) -> dict[str, Any]:
        found: Any = client.hgetall(name)
        return {key.decode(): value for key, value in found.items()}

    return valkey().attempt(read) or {}
