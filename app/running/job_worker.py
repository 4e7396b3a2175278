"""Runs the jobs of one queue until this process is asked to stop."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from app.jobs.queue import job_queue
from app.jobs.registry import RegisteredJob
from app.running.rq_worker import JobWorker

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 2.0  # seconds, when the worker stopped because Valkey was unavailable

# Seconds. After a worker was killed its job runs again, or is failed, within about 90. An idle
# worker leaves a heartbeat 15 seconds before WORKER_TTL is over, one with a job at each monitoring.
WORKER_TTL: Final = 30
JOB_MONITORING_INTERVAL: Final = 10
MAINTENANCE_INTERVAL: Final = 15


def work_until_stopped(queue: str, resolve_url: Callable[[], str], *, debug: bool) -> None:
    """Run the jobs of a queue until SIGTERM. Needs an app context.

    RQ's worker ends when Valkey becomes unavailable during a job; another one is then started.

    Args:
        resolve_url: returns the URL of Valkey, and may start it.
        debug: whether RQ logs what it does.
    """
    is_down = False
    handler = signal.getsignal(signal.SIGTERM)
    while True:
        try:
            if _work(queue, resolve_url(), debug=debug):
                return
            is_down = False
        except (RedisError, OSError) as error:
            if not is_down:
                log.error("worker %s: Valkey unavailable, retrying: %s", queue, error)
            is_down = True
        signal.signal(signal.SIGTERM, handler)  # RQ replaced it
        time.sleep(RETRY_AFTER)


def _work(name: str, url: str, *, debug: bool) -> bool:
    """Run jobs; True means that this process was asked to stop."""
    connection = Redis.from_url(url)
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
    log.info("worker %s: ready", name)
    try:
        # At its level INFO, RQ logs four lines for each job that succeeds.
        worker.work(logging_level="DEBUG" if debug else "WARNING")
    except (RedisError, OSError):
        if not worker.is_stopping:
            raise
    finally:
        worker.stop_listening()
    return worker.is_stopping
