"""The metrics of deliveries. The worker may run on another machine, so they are read from the
database and Valkey at each request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from app.webhooks.deliveries.metrics import read_attempts, read_backlog, read_latency


class DeliveryCollector(Collector):
    """Pending deliveries and attempts. Needs an application context."""

    def collect(self) -> Iterator[Metric]:
        with suppress(SQLAlchemyError):  # the other metrics show the outage
            yield from _backlog()
        attempts = CounterMetricFamily(
            "canopy_delivery_attempts", "Attempts to deliver an event", labels=["outcome"]
        )
        for outcome, number in sorted(read_attempts().items()):
            attempts.add_metric([outcome], number)
        yield attempts
        found = read_latency()
        latency = HistogramMetricFamily(
            "canopy_delivery_latency_seconds",
            "Time from an event to its delivery, of those delivered at the first attempt",
        )
        latency.add_metric([], found.buckets, found.seconds)
        yield latency


def delivery_registry() -> CollectorRegistry:
    """A registry with nothing else in it."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(DeliveryCollector())
    return registry


def _backlog() -> Iterator[Metric]:
    found = read_backlog()
    for name, description, value in (
        ("pending", "Deliveries still to be made, including retries", found.pending),
        ("due", "Deliveries that are due and not yet claimed by a worker", found.due),
        ("claimed", "Deliveries that a worker has claimed", found.claimed),
        (
            "oldest_due_seconds",
            "Age of the oldest delivery that is due and unclaimed",
            found.oldest_due_seconds,
        ),
    ):
        yield GaugeMetricFamily(f"canopy_deliveries_{name}", description, value)
