"""/metrics for Prometheus.

The metrics of requests are sums over the web processes. The others are read from the database and
Valkey at each request, as the worker may run on another machine.
"""

from __future__ import annotations

import hmac
import os
import time

from flask import Blueprint, Flask, Response, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)

from app.http.errors import NotFound, Unauthorized
from app.http.middleware import STARTED
from app.limits import limiter
from app.monitoring.readings import Readings, build_labels
from app.policy.metrics import REQUEST_SECONDS, describe_metric
from app.settings.current import current_settings

bp = Blueprint("metrics", __name__)

# Other methods are counted together: clients can send any word, and each would stay forever.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_REQUESTS = Counter(*describe_metric("canopy_http_requests_total"))
_DURATION = Histogram(
    *describe_metric("canopy_http_request_duration_seconds"), buckets=REQUEST_SECONDS
)
_LIMITED = Counter(*describe_metric("canopy_rate_limited_total"))

# They measure this process only; the readings have all of them.
for _collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
    REGISTRY.unregister(_collector)


def init_app(app: Flask) -> None:
    """Count every request, if METRICS_TOKEN is set."""
    if app.config["SETTINGS"].metrics_token is not None:
        build_labels()
        app.after_request(_count_response)


@bp.get("/metrics")
def metrics() -> Response:
    """All metrics, for clients that send METRICS_TOKEN as a bearer token."""
    token = current_settings().metrics_token
    if token is None:
        raise NotFound
    sent = request.headers.get("Authorization", "").encode()
    if not hmac.compare_digest(sent, f"Bearer {token}".encode()):
        raise Unauthorized("Send METRICS_TOKEN as a bearer token.")
    text = generate_latest(_metrics_registry()) + generate_latest(read_registry())
    return Response(text, content_type=CONTENT_TYPE_LATEST)


def read_registry() -> CollectorRegistry:
    """Make a registry with the metrics that are read at each request."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Readings())
    return registry


def _count_response(response: Response) -> Response:
    route = request.url_rule.rule if request.url_rule is not None else "(none)"
    method = request.method if request.method in _METHODS else "other"
    _REQUESTS.labels(method, route, response.status_code).inc()
    seconds = time.perf_counter() - request.environ[STARTED]
    _DURATION.labels(method, route, f"{response.status_code // 100}xx").observe(seconds)
    if response.status_code == 429:
        _LIMITED.labels(limiter.kind_of_limit() or "other").inc()
    return response


def _metrics_registry() -> CollectorRegistry:
    """Return the metrics of all web processes if they share a folder, else of this process."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry
