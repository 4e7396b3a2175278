"""Health checks, metrics, the OpenAPI document and the reference page."""

from __future__ import annotations

import time

import pytest
from flask import Flask
from redis import Redis
from rq import Worker

from app.jobs.queue import GENERAL, QUEUES, job_queue
from app.monitoring import health
from app.processes.rq_worker import QueueWorker, seen_key
from tests.make import make_account, second_app

DEAD = "redis://127.0.0.1:9/0"


def _health(app: Flask) -> tuple[int, dict[str, object]]:
    response = app.test_client().get("/api/health")
    return response.status_code, response.json


def test_health_of_everything(app: Flask, valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue without a worker has failed after a minute."""
    monkeypatch.setattr(health, "LOADED_AT", time.monotonic())
    with (
        Redis.from_url(valkey_url, db=13) as client,
        second_app(app, redis_url=f"{valkey_url}?db=13") as other,
    ):
        client.flushdb()
        checks = {"database": "ok", "storage": "ok", "redis": "ok", "queue": "failed"}
        assert _health(other) == (200, {"status": "ok", "checks": checks | {"queue": "ok"}})
        monkeypatch.setattr(health, "LOADED_AT", time.monotonic() - 60)
        assert _health(other) == (200, {"status": "degraded", "checks": checks})
        for queue in QUEUES:
            assert _health(other)[1]["status"] == "degraded"
            QueueWorker(queue, client, job_memory=None).begin()
        assert _health(other) == (200, {"status": "ok", "checks": checks | {"queue": "ok"}})
        assert 0 < client.ttl(seen_key(GENERAL)) <= 60
        client.flushdb()


def test_without_valkey_health_is_degraded(app: Flask) -> None:
    with second_app(app, redis_url=DEAD) as cut_off:
        checks = {
            **{"database": "ok", "storage": "ok"},
            **{"redis": "unavailable", "queue": "unavailable"},
        }
        assert _health(cut_off) == (200, {"status": "degraded", "checks": checks})


def _ready(app: Flask) -> tuple[int, dict[str, object]]:
    response = app.test_client().get("/readyz")
    return response.status_code, response.json


def test_ready_with_a_worker_for_each_queue_and_degraded_without(
    app: Flask, valkey_url: str
) -> None:
    with (
        Redis.from_url(valkey_url, db=13) as client,
        second_app(app, redis_url=f"{valkey_url}?db=13") as other,
    ):
        client.flushdb()
        checks = {"database": "ok", "storage": "ok"}
        missing = {"status": "degraded", "checks": checks | {"worker": "missing"}}
        assert _ready(other) == (200, missing)
        for queue in QUEUES:
            assert _ready(other) == (200, missing)
            Worker([job_queue(client, queue)], connection=client).register_birth()
        ready = {"status": "ok", "checks": checks | {"worker": "ok"}}
        assert _ready(other) == (200, ready)
        client.flushdb()


def test_without_valkey_the_worker_is_unknown(app: Flask) -> None:
    with second_app(app, redis_url=DEAD) as cut_off:
        checks = {"database": "ok", "storage": "ok", "worker": "unknown"}
        assert _ready(cut_off) == (200, {"status": "degraded", "checks": checks})


@pytest.mark.both
def test_health_is_not_cached(app: Flask) -> None:
    for path in ["/healthz", "/readyz", "/api/health"]:
        response = app.test_client().get(path)
        assert response.status_code == 200
        assert response.headers["Cache-Control"] == "no-store"


def test_the_service_works_without_valkey(app: Flask) -> None:
    with second_app(app, redis_url=DEAD) as cut_off:
        client = make_account(cut_off)
        assert client.post("/v1/projects", json={"name": "A"}).status_code == 201
        assert client.get("/v1/account/usage").status_code == 200


def test_the_openapi_document_is_public_and_conditional(app: Flask) -> None:
    for path in ["/v1/openapi.json", "/docs"]:
        caller = app.test_client()
        first = caller.get(path)
        assert first.status_code == 200
        again = caller.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.get_data()) == (304, b"")


def test_metrics_require_their_token(app: Flask) -> None:
    caller = app.test_client()
    assert caller.get("/metrics").status_code == 401
    for wrong in ("Bearer x", "the-metrics-token", "Bearer metrics-token-of-tests2", "Bearer ÿ"):
        assert caller.get("/metrics", headers={"Authorization": wrong}).status_code == 401
    right = caller.get("/metrics", headers={"Authorization": "Bearer the-metrics-token"})
    assert right.status_code == 200
    assert "canopy_http_requests_total" in right.get_data(as_text=True)


def test_without_a_token_there_are_no_metrics(app: Flask) -> None:
    with second_app(app, metrics_token=None) as made:
        assert made.test_client().get("/metrics").status_code == 404
