"""Stands in for ``app/factory.py``."""

from __future__ import annotations

import os
import time

from app.stand_in.deliver import NEW_DELIVERIES
from app.stand_in.jobs import JOBS
from flask import Flask
from rq.serializers import JSONSerializer

from app.http import logging, middleware
from app.jobs import registry, valkey
from app.jobs.queue import job_queue
from app.processes.embedded_valkey import redis_url
from config import Settings


def create_app(settings: Settings) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.config["SETTINGS"] = settings
    registry.register_jobs(JOBS)
    middleware.init_app(app)
    logging.init_app(app)
    valkey.init_app(app, settings, lambda: redis_url(settings))

    @app.get("/healthz")
    def healthz() -> str:
        return "ok"

    @app.get("/slow/<int:seconds>")
    def slow(seconds: int) -> str:
        (settings.instance_path / "slow.started").touch()
        time.sleep(seconds)
        return f"slept {seconds}"

    @app.get("/pid")
    def pid() -> str:
        return str(os.getpid())

    @app.post("/jobs/<int:seconds>")
    def job(seconds: int) -> str:
        queue = job_queue(valkey.valkey().client)
        assert queue.serializer is JSONSerializer
        return queue.enqueue("sleep", seconds).id

    @app.post("/wait")
    def wait() -> str:
        return job_queue(valkey.valkey().client).enqueue("wait").id

    @app.post("/notify")
    def notify() -> str:
        return str(NEW_DELIVERIES.notify(valkey.valkey().client))

    return app
