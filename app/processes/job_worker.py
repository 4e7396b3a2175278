"""Running the jobs of one queue until this process is asked to stop."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from typing import Any, Final

from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from app.jobs.queue import job_queue
from app.jobs.registry import RegisteredJob
from app.jobs.valkey_client import make_client
from app.processes.rq_worker import ANSWER_WITHIN, ASK_FOR, JobWorker

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 1.0  # seconds, when the worker stopped because Valkey was unavailable

# Seconds. After a worker was killed its job runs again, or is failed, within about 90. An idle
# worker leaves a heartbeat every second, one with a job at each monitoring.
WORKER_TTL: Final = 30
JOB_MONITORING_INTERVAL: Final = 10
MAINTENANCE_INTERVAL: Final = 15

# How the worker is connected. It is not redis-py that tries again: it would ask the server that it
# knows, and not the Sentinels.
_CONNECTION: Final[dict[str, Any]] = {
    "socket_timeout": ASK_FOR + ANSWER_WITHIN,
    "socket_connect_timeout": ANSWER_WITHIN,
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
}


def work_until_stopped(
    queue: str, resolve_url: Callable[[], str], *, debug: bool, job_memory: int | None = None
) -> None:
    """Run the jobs of a queue until SIGTERM. Needs an app context.

    RQ's worker ends when Valkey becomes unavailable; another one is then started.

    Args:
        resolve_url: returns the URL of Valkey, and may start it.
        debug: have RQ log each job.
        job_memory: the most bytes that a job may take before it fails. None: no limit.
    """
    outage = _Outage(queue)
    handler = signal.getsignal(signal.SIGTERM)
    while True:
        try:
            if _work(queue, resolve_url(), outage.end, debug=debug, job_memory=job_memory):
                return
        except (RedisError, OSError) as error:
            outage.begin(error)
        signal.signal(signal.SIGTERM, handler)  # RQ replaced it
        time.sleep(RETRY_AFTER)


class _Outage:
    """Logs the beginning and the end of each outage."""

    def __init__(self, queue: str) -> None:
        self._queue = queue
        self._began: float | None = None

    def begin(self, error: Exception) -> None:
        if self._began is None:
            self._began = time.monotonic()
            log.error("worker %s: Valkey unavailable, retrying: %s", self._queue, error)

    def end(self) -> None:
        if self._began is not None:
            seconds, self._began = time.monotonic() - self._began, None
            log.warning("worker %s: Valkey is back after %.1f s", self._queue, seconds)


def _work(
    name: str,
    url: str,
    on_registered: Callable[[], None],
    *,
    debug: bool,
    job_memory: int | None,
) -> bool:
    """Run jobs. Returns True if this process was asked to stop. Raises RedisError or OSError when
    Valkey becomes unavailable."""
    connection = make_client(url, **_CONNECTION)
    queue = job_queue(connection, name)
    worker = JobWorker(
        [queue],
        connection=connection,
        job_class=RegisteredJob,
        serializer=queue.serializer,
        log_job_description=False,
        worker_ttl=WORKER_TTL,
        job_monitoring_interval=JOB_MONITORING_INTERVAL,
        maintenance_interval=MAINTENANCE_INTERVAL,
    )
    worker.on_registered = on_registered
    worker.job_memory = job_memory
    log.info("worker %s: ready", name)
    try:
        # At its level INFO, RQ logs four lines for each job that succeeds.
        worker.work(logging_level="DEBUG" if debug else "WARNING")
    except (RedisError, OSError):
        if not worker.is_stopping:
            raise
    if worker.failure is not None and not worker.is_stopping:
        raise worker.failure
    return worker.is_stopping
