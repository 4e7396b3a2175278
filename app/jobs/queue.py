"""The job queues. A worker runs them beside one another, and takes the jobs of each in the order in
which they came: so neither deliveries of events nor mails wait for anything else. Queues
hold the names of jobs.
"""

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
FAILURE_TTL: Final = 5  # seconds for which a failed job keeps its id, and thus the next one off


def job_queue(connection: Redis, name: str = GENERAL) -> Queue:
    """A queue, by name. Arguments of jobs are JSON, which holds no code, unlike RQ's default,
    pickles."""
    return Queue(name, connection=connection, serializer=JSONSerializer)


def count_waiting(client: Redis, name: str) -> tuple[int, float]:
    """The number of jobs in a queue, and the seconds since the first was put there. Raises
    RedisError or OSError."""
    queue = job_queue(client, name)
    first = [queue.fetch_job(each) for each in queue.get_job_ids(0, 1)]
    queued_at = first[0].enqueued_at if first and first[0] else None
    waited = (clock.now() - queued_at).total_seconds() if queued_at else 0.0
    return queue.count, max(0.0, waited)


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
        job: its name.
        job_id: letters, digits, ``-`` and ``_``.
        ttl: seconds for which it waits in the queue; then it is dropped.
        timeout: seconds for which it may run; None: RQ's default.

    Raises:
        RedisError, OSError: Valkey is gone, or does not answer in time.
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
