"""Counters and histograms of the whole instance, in Valkey: workers add to them, on any machine,
and each web server shows them.

They begin at 0 again when Valkey loses its memory. Nothing is counted while it is down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from redis import Redis

from app.jobs.valkey import valkey
from app.policy.metrics import METRICS

_SUM: Final = "microseconds"  # the field with the sum of a histogram, beside its buckets
_INFINITE: Final = "+Inf"

Counts = Mapping[tuple[str, ...], int]  # by label values; in a histogram the last is a field of it


class Additions:
    """What is added to metrics at once.

    Each has a hash, with a field for each combination of label values, which hold no commas.
    """

    def __init__(self) -> None:
        self._added: Counter[tuple[str, str]] = Counter()

    def count(self, name: str, *labels: str) -> None:
        """Add 1 to a counter."""
        self._added[name, ",".join(labels)] += 1

    def observe(self, name: str, *labels: str, seconds: float) -> None:
        """Add a time to a histogram; one that a clock made negative is 0."""
        seconds = max(seconds, 0.0)
        bounds = METRICS[name].buckets
        bucket = next((str(bound) for bound in bounds if seconds <= bound), _INFINITE)
        self._added[name, ",".join((*labels, bucket))] += 1
        self._added[name, ",".join((*labels, _SUM))] += int(seconds * 1_000_000)

    def write(self, client: Redis) -> bool:
        """Raises RedisError or OSError."""
        pipeline = client.pipeline(transaction=False)
        for (name, field), number in self._added.items():
            pipeline.hincrby(metric_key(name), field, number)
        pipeline.execute()
        return True


def increment(name: str, *labels: str) -> None:
    """Add 1 to a counter."""
    additions = Additions()
    additions.count(name, *labels)
    valkey().attempt(additions.write)


def read_counts(client: Redis, names: list[str]) -> dict[str, Counts]:
    """All that was added to metrics, in one round trip. Raises RedisError or OSError."""
    pipeline = client.pipeline(transaction=False)
    for name in names:
        pipeline.hgetall(metric_key(name))
    found: Any = pipeline.execute()
    return {
        name: {tuple(field.decode().split(",")): int(number) for field, number in fields.items()}
        for name, fields in zip(names, found, strict=True)
    }


def cumulate(name: str, counts: Counts, *labels: str) -> tuple[list[tuple[str, float]], float]:
    """The histogram of some label values: each upper bound with the number of times up to it, and
    the sum in seconds."""
    total, buckets = 0, []
    for bound in (*map(str, METRICS[name].buckets), _INFINITE):
        total += counts.get((*labels, bound), 0)
        buckets.append((bound, float(total)))
    return buckets, counts.get((*labels, _SUM), 0) / 1_000_000


def metric_key(name: str) -> str:
    """The key of a metric in Valkey."""
    return f"canopy:metric:{name}"
