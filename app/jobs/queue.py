"""The job queues, which hold names of jobs. A worker runs the queues side by side, and the jobs of
each in order, so that neither deliveries nor mails wait for other jobs."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

from app.values import clock

GENERAL: Final = "canopy"
DELIVERIES: Final = "canopy-deliveries"
IMPORTS: Final = "canopy-imports"
MAILS: Final = "canopy-mails"
QUEUES: Final = (GENERAL, DELIVERIES, IMPORTS, MAILS)

RESULT_TTL: Final = 0  # seconds
FAILURE_TTL: Final = 5  # seconds for which a failed job keeps its id from being queued again


def job_queue(connection: Redis, name: str = GENERAL) -> Queue:
    """Return a queue by name. Arguments of jobs are JSON instead of RQ's pickles, which can hold
    code."""
    return Queue(name, connection=connection, serializer=JSONSerializer)


def count_waiting_jobs(client: Redis, name: str) -> tuple[int, float]:
    """Return the number of jobs in a queue, and the age of the first in seconds. Raises RedisError
    or OSError."""
    queue = job_queue(client, name)
    ids = queue.get_job_ids(0, 1)
    job = queue.fetch_job(ids[0]) if ids else None
    queued_at = job.enqueued_at if job else None
    age = (clock.now() - queued_at).total_seconds() if queued_at else 0.0
    return queue.count, max(0.0, age)


def enqueue_once(
    client: Redis,
    job: str,
    *,
    job_id: str,
    ttl: int,
    queue: str,
    timeout: int | None,
) -> None:
    """Put a job on a queue, unless one with this id waits or runs.

    Args:
        job: name of the job.
        job_id: letters, digits, ``-`` and ``_``.
        ttl: seconds in the queue after which the job is dropped.
        timeout: seconds for which it may run. None: RQ's default.

    Raises:
        RedisError, OSError: Valkey is unavailable.
    """
    with suppress(DuplicateJobError):
        job_queue(client, queue).enqueue(
            job,
            job_id=job_id,
            unique=True,
            result_ttl=RESULT_TTL,
            failure_ttl=FAILURE_TTL,
            ttl=ttl,
            job_timeout=timeout,
        )
