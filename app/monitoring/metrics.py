"""/metrics for Prometheus.

The metrics of requests are aggregated over the processes of the web server. Those of deliveries are
read from the database and Valkey at each request, as the worker may run on another machine.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Iterator
from contextlib import suppress

from flask import Blueprint, Flask, Response, current_app, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from app.http.errors import NotFound, Unauthorized
from app.http.middleware import STARTED
from app.jobs.valkey import valkey
from app.limits import limiter
from app.webhooks.deliveries.metrics import read_attempts, read_backlog, read_latency

bp = Blueprint("metrics", __name__)

# Other methods are counted together: clients can send any word, and each would be kept forever.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_REQUESTS = Counter(
    "canopy_http_requests_total", "Requests answered", ["method", "route", "status"]
)
_DURATION = Histogram(
    "canopy_http_request_duration_seconds",
    "Time from the arrival of a request to its response",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
_LIMITED = Counter("canopy_rate_limited_total", "Requests rejected by a rate limit", ["limit"])
_VALKEY_UP = Gauge(
    "canopy_valkey_up",
    "Whether Valkey responded to the last command",
    multiprocess_mode="livemostrecent",
)


def init_app(app: Flask) -> None:
    """Count every request, if METRICS_TOKEN is set."""
    if app.config["SETTINGS"].metrics_token is not None:
        app.after_request(_count)


@bp.get("/metrics")
def metrics() -> Response:
    """All metrics, for clients that send METRICS_TOKEN as a bearer token."""
    token = current_app.config["SETTINGS"].metrics_token
    if token is None:
        raise NotFound
    sent = request.headers.get("Authorization", "").encode()
    if not hmac.compare_digest(sent, f"Bearer {token}".encode()):
        raise Unauthorized("Send METRICS_TOKEN as a bearer token.")
    text = generate_latest(_registry()) + generate_latest(delivery_registry())
    return Response(text, content_type=CONTENT_TYPE_LATEST)


class DeliveryCollector(Collector):
    """Collects pending deliveries and attempts. Needs an application context."""

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
    """Make a registry with the metrics of deliveries only."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(DeliveryCollector())
    return registry


def _count(response: Response) -> Response:
    route = request.url_rule.rule if request.url_rule is not None else "(none)"
    method = request.method if request.method in _METHODS else "other"
    _REQUESTS.labels(method, route, response.status_code).inc()
    _DURATION.labels(route).observe(time.perf_counter() - request.environ[STARTED])
    if response.status_code == 429:
        _LIMITED.labels(limiter.kind_of_limit() or "other").inc()
    _VALKEY_UP.set(0 if valkey().is_down else 1)
    return response


def _registry() -> CollectorRegistry:
    """The metrics of all processes if the web server set a folder for them, else of this one."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
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
