"""The metrics of deliveries. The worker makes them, and may be elsewhere: so they are read from the
database and the store when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from app.deliveries import gauges


class DeliveryCollector(Collector):
    """What waits, and what was attempted. Needs an application context."""

    def collect(self) -> Iterator[Metric]:
        with suppress(SQLAlchemyError):  # the other metrics tell what is wrong
            yield from _backlog()
        attempts = CounterMetricFamily(
            "canopy_delivery_attempts", "Attempts to deliver an event", labels=["outcome"]
        )
        for outcome, number in sorted(gauges.attempts().items()):
            attempts.add_metric([outcome], number)
        yield attempts
        found = gauges.receipts()
        receipts = HistogramMetricFamily(
            "canopy_delivery_receipt_seconds",
            "Time from an event to its receipt, of those received at the first attempt",
        )
        receipts.add_metric([], found.buckets, found.seconds)
        yield receipts


def delivery_registry() -> CollectorRegistry:
    """A registry with nothing else in it."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(DeliveryCollector())
    return registry


def _backlog() -> Iterator[Metric]:
    found = gauges.backlog()
    for name, told, value in (
        ("pending", "Deliveries that are not done, retries included", found.pending),
        ("due", "Deliveries that are due and not under way", found.due),
        ("claimed", "Deliveries that a worker has in hand", found.claimed),
        (
            "late_seconds",
            "Time since the oldest delivery is due that no worker has in hand",
            found.late_seconds,
        ),
    ):
        yield GaugeMetricFamily(f"canopy_deliveries_{name}", told, value)
