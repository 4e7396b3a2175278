"""The metrics of deliveries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.jobs.shared_metrics import metric_key
from app.jobs.valkey import valkey
from tests.make import Client, make_project, second_app
from tests.make.webhooks import make_webhook, make_webhook_at
from tests.outbound.receivers import Receiver, answering, in_turn
from tests.webhooks.conftest import Deliver, Later


@pytest.fixture(autouse=True)
def _nothing_counted(delivering: Flask) -> None:
    with delivering.app_context():
        counted = ("canopy_delivery_attempts_total", "canopy_delivery_latency_seconds")
        valkey().client.delete(*map(metric_key, counted))


def metrics(app: Flask) -> dict[str, float]:
    response = app.test_client().get(
        "/metrics", headers={"Authorization": "Bearer the-metrics-token"}
    )
    lines = [line for line in response.text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@pytest.mark.both
def test_pending_deliveries(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    shown = metrics(delivering)
    assert shown["canopy_deliveries_pending"] == 0
    assert shown["canopy_delivery_latency_seconds_count"] == 0
    receiver.answer = answering(500)
    make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    later(timedelta(seconds=7))
    make_project(customer)
    shown = metrics(delivering)
    assert (shown["canopy_deliveries_pending"], shown["canopy_deliveries_due"]) == (2, 2)
    assert shown["canopy_deliveries_claimed"] == 0
    assert shown["canopy_deliveries_oldest_due_seconds"] == 7
    with second_app(delivering, outbound="off") as off:
        held = metrics(off)
    assert (held["canopy_deliveries_pending"], held["canopy_deliveries_due"]) == (2, 0)
    assert held["canopy_deliveries_oldest_due_seconds"] == 0
    deliver()
    shown = metrics(delivering)
    assert (shown["canopy_deliveries_pending"], shown["canopy_deliveries_due"]) == (2, 0)
    assert shown["canopy_deliveries_oldest_due_seconds"] == 0, "they wait for their retries"


def test_attempts_by_outcome(
    delivering: Flask, customer: Client, receiver: Receiver, deliver: Deliver, later: Later
) -> None:
    receiver.answer = in_turn(answering(200), answering(503), answering(404), answering(200))
    make_webhook(customer, url=receiver.url(), events=["project.created"])
    for _ in range(3):
        make_project(customer)
        deliver()
    make_webhook(customer, url="https://127.0.0.1:9/", events=["project.created"])
    make_webhook_at(customer, "https://10.0.0.1/", events=["project.created"])
    make_project(customer)
    later(timedelta(seconds=60))
    deliver()
    found = metrics(delivering)
    attempts = {
        name.partition('"')[2].rstrip('"}'): number
        for name, number in found.items()
        if name.startswith("canopy_delivery_attempts_total")
    }
    assert attempts == {
        "delivered": 4,
        "answered_5xx": 1,
        "answered_4xx": 1,
        "refused": 1,
        "not_allowed": 1,
    }
    assert found["canopy_delivery_latency_seconds_count"] == 2, "first attempts only"
    assert found['canopy_delivery_latency_seconds_bucket{le="+Inf"}'] == 2
