"""Stands in for ``app/__init__.py``."""

from __future__ import annotations

import os
import time

from flask import Flask
from rq.serializers import JSONSerializer

from app.core import edge, logging, store
from app.core.bells import DELIVERIES_BELL
from app.core.queue import job_queue
from app.running.embedded import redis_url
from config import Settings


def create_app(settings: Settings) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.config["SETTINGS"] = settings
    edge.init_app(app)
    logging.init_app(app)
    store.init_app(app, settings, lambda: redis_url(settings))

    @app.get("/healthz")
    def healthz() -> str:
        return "ok"

    @app.get("/slow/<int:seconds>")
    def slow(seconds: int) -> str:
        time.sleep(seconds)
        return f"slept {seconds}"

    @app.get("/pid")
    def pid() -> str:
        return str(os.getpid())

    @app.post("/jobs/<int:seconds>")
    def job(seconds: int) -> str:
        queue = job_queue(store.store().client)
        assert queue.serializer is JSONSerializer
        return queue.enqueue("app.jobs.sleep", seconds).id

    @app.post("/wait")
    def wait() -> str:
        return job_queue(store.store().client).enqueue("app.jobs.wait").id

    @app.post("/ring")
    def ring() -> str:
        return str(DELIVERIES_BELL.ring(store.store().client))

    return app
