"""Whether the service is alive, can serve, and what is wrong when it is not."""

from __future__ import annotations

from flask import Blueprint, Response
from sqlalchemy.exc import SQLAlchemyError

from app.db.migrations import is_current
from app.db.queries import connect
from app.jobs.valkey import valkey
from app.running.worker_registry import count_workers
from app.values.strict_json import dumps

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def alive() -> Response:
    """The process answers."""
    return _json({"status": "ok"}, 200)


@bp.get("/readyz")
def ready() -> Response:
    """The database answers and has the schema of this version; else 503. Without a worker for each
    queue the service is degraded, and ready all the same: requests are answered, mails and
    deliveries wait."""
    worker = _worker()
    current = _has_current_schema()
    status = "unavailable" if not current else "ok" if worker == "ok" else "degraded"
    checks = {"database": _word(current), "worker": worker}
    return _json({"status": status, "checks": checks}, 200 if current else 503)


@bp.get("/api/health")
def health() -> Response:
    """Each part by name. Without the store the service goes on, degraded."""
    database = _database_answers()
    redis = valkey().works()
    status = "unavailable" if not database else "ok" if redis else "degraded"
    checks = {
        "database": _word(database),
        "redis": _word(redis),
        "queue": _word(redis),
    }
    return _json({"status": status, "checks": checks}, 200 if database else 503)


def _database_answers() -> bool:
    try:
        with connect() as connection:
            return bool(connection.exec_driver_sql("SELECT 1").scalar_one() == 1)
    except SQLAlchemyError:
        return False


def _has_current_schema() -> bool:
    try:
        return _database_answers() and is_current()
    except SQLAlchemyError:
        return False


def _worker() -> str:
    """``gone`` when a queue has no worker that lives, ``unknown`` when the store is down."""
    workers = valkey().attempt(count_workers)
    if workers is None:
        return "unknown"
    return "ok" if all(workers.values()) else "gone"


def _word(works: bool) -> str:
    return "ok" if works else "unavailable"


def _json(value: object, status: int) -> Response:
    response = Response(dumps(value), status=status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response
