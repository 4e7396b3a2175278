"""The health checks /healthz, /readyz and /api/health."""

from __future__ import annotations

import time
from typing import Final

from flask import Blueprint, Response
from sqlalchemy.exc import SQLAlchemyError

from app.db.postgresql.connection import is_primary, reply_limit
from app.db.queries import reading_connection
from app.db.revisions import state_of
from app.jobs.valkey import valkey
from app.monitoring.storage import FAILED, UNKNOWN, storage_state
from app.processes.rq_worker import SEEN_FOR
from app.processes.worker_registry import count_workers, is_any_missing
from app.values.strict_json import dumps

bp = Blueprint("health", __name__)

LOADED_AT: Final = time.monotonic()  # when this process, or the one that it was forked from, began

_READY_SECONDS: Final = 2.0  # for each of PostgreSQL's two or three replies


@bp.get("/healthz")
def alive() -> Response:
    """Liveness: the process responds."""
    return _json_response({"status": "ok"}, 200)


@bp.get("/readyz")
def ready() -> Response:
    """Readiness: the database is a primary with tables that this version runs on; else 503.

    If a queue has no worker, or a change cannot be stored, the service is degraded but ready:
    requests are answered, while mails and deliveries wait, or reads work.
    """
    worker, database = _worker_state(), _readiness_state()
    is_ready = database == "ok"
    storage = storage_state() if is_ready else UNKNOWN
    is_whole = worker == "ok" and storage != FAILED
    status = "unavailable" if not is_ready else "ok" if is_whole else "degraded"
    checks = {"database": database, "storage": storage, "worker": worker}
    return _json_response({"status": status, "checks": checks}, 200 if is_ready else 503)


@bp.get("/api/health")
def health() -> Response:
    """The state of each part. Without Valkey, after a minute without a worker, and while another
    version's tables refuse changes, the service is degraded. If a change cannot be stored, it is
    unavailable."""
    database = _database_state()
    is_read = database in ("ok", "other_version")
    storage = storage_state() if is_read else UNKNOWN
    redis = valkey().is_writable()
    queue = _queue_state(has_valkey=redis)
    is_up = is_read and storage != FAILED
    is_whole = database == queue == "ok"
    status = "unavailable" if not is_up else "ok" if is_whole else "degraded"
    redis_state = "ok" if redis else "unavailable"
    checks = {"database": database, "storage": storage, "redis": redis_state, "queue": queue}
    return _json_response({"status": status, "checks": checks}, 200 if is_up else 503)


def _database_state() -> str:
    try:
        with reading_connection() as connection:
            return state_of(connection)
    except SQLAlchemyError:
        return "unavailable"


def _readiness_state() -> str:
    """As ``_database_state``, within seconds; ``unavailable`` also if it accepts no changes."""
    try:
        with reading_connection() as connection, reply_limit(connection, _READY_SECONDS):
            if is_primary(connection):
                return state_of(connection)
            # The server is no longer the primary. All other connections may lead there, too.
            connection.invalidate()
            connection.engine.dispose()
    except SQLAlchemyError:
        pass
    return "unavailable"


def _worker_state() -> str:
    """Return ``missing`` if a queue has no running worker, ``unknown`` if Valkey is down."""
    workers = valkey().attempt(count_workers)
    if workers is None:
        return "unknown"
    return "ok" if all(workers.values()) else "missing"


def _queue_state(*, has_valkey: bool) -> str:
    """Return ``failed`` if a queue has had no worker for a minute, since this process began."""
    is_missing = valkey().attempt(is_any_missing) if has_valkey else None
    if is_missing is None:
        return "unavailable"
    is_new = time.monotonic() - LOADED_AT < SEEN_FOR
    return "failed" if is_missing and not is_new else "ok"


def _json_response(value: object, status: int) -> Response:
    response = Response(dumps(value), status=status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response
