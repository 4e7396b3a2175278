"""Counters and histograms of the whole instance, in Valkey: workers on all machines add to them,
and each web server shows them.

They begin at 0 again when Valkey loses its data. Nothing is counted while it is down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from redis import Redis

from app.jobs.valkey import valkey
from app.policy.metrics import METRICS

_SUM: Final = "microseconds"  # field of a histogram's sum, next to its buckets
_INFINITE: Final = "+Inf"

Counts = Mapping[tuple[str, ...], int]  # by label values; in a histogram, the last is a field


class Additions:
    """Numbers to add to metrics at once.

    Each metric has a hash, with a field for each combination of label values, which have no commas.
    """

    def __init__(self) -> None:
        self._numbers: Counter[tuple[str, str]] = Counter()  # by metric and field

    def count(self, name: str, *labels: str) -> None:
        """Add 1 to a counter."""
        self._numbers[name, ",".join(labels)] += 1

    def observe(self, name: str, *labels: str, seconds: float) -> None:
        """Add a duration to a histogram. A negative one, as of a clock that was set back, is 0."""
        seconds = max(seconds, 0.0)
        buckets = METRICS[name].buckets
        bucket = next((str(limit) for limit in buckets if seconds <= limit), _INFINITE)
        self._numbers[name, ",".join((*labels, bucket))] += 1
        self._numbers[name, ",".join((*labels, _SUM))] += int(seconds * 1_000_000)

    def write(self, client: Redis) -> bool:
        """Write the numbers to Valkey. Raises RedisError or OSError."""
        pipeline = client.pipeline(transaction=False)
        for (name, field), number in self._numbers.items():
            pipeline.hincrby(metric_key(name), field, number)
        pipeline.execute()
        return True


def increment_counter(name: str, *labels: str) -> None:
    """Add 1 to a counter."""
    additions = Additions()
    additions.count(name, *labels)
    valkey().attempt(additions.write)


def read_counts(client: Redis, names: list[str]) -> dict[str, Counts]:
    """Read metrics in one round trip. Raises RedisError or OSError."""
    pipeline = client.pipeline(transaction=False)
    for name in names:
        pipeline.hgetall(metric_key(name))
    hashes: Any = pipeline.execute()
    return {
        name: {tuple(field.decode().split(",")): int(number) for field, number in fields.items()}
        for name, fields in zip(names, hashes, strict=True)
    }


def cumulative_histogram(
    name: str, counts: Counts, *labels: str
) -> tuple[list[tuple[str, float]], float]:
    """Return the histogram of some label values: (the limit of each bucket, the number of durations
    up to it), and the sum in seconds."""
    total, buckets = 0, []
    for limit in (*map(str, METRICS[name].buckets), _INFINITE):
        total += counts.get((*labels, limit), 0)
        buckets.append((limit, float(total)))
    return buckets, counts.get((*labels, _SUM), 0) / 1_000_000


def metric_key(name: str) -> str:
    """Return the key of a metric in Valkey."""
    return f"canopy:metric:{name}"
