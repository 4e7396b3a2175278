"""The job queues. Each has a worker process of its own, which takes jobs in the order in which they
came: so neither deliveries of events nor mails wait for an import."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

GENERAL: Final = "canopy"
DELIVERIES: Final = "canopy-deliveries"
IMPORTS: Final = "canopy-imports"
QUEUES: Final = (GENERAL, DELIVERIES, IMPORTS)

RESULT_TTL: Final = 0  # seconds
FAILURE_TTL: Final = 5  # seconds; a failed job keeps its id, and with it the next one away, so long


def job_queue(connection: Redis, name: str = GENERAL) -> Queue:
    """The queue of a name behind a connection. Arguments of jobs are JSON, which holds no code, as
    the pickles of RQ's default do."""
    return Queue(name, connection=connection, serializer=JSONSerializer)


def enqueue_once(
    client: Redis,
    path: str,
    *,
    job_id: str,
    ttl: int,
    queue: str = GENERAL,
    timeout: int | None = None,
) -> None:
    """Put a job on a queue, unless one with this id waits or runs.

    Args:
        path: its dotted path.
        job_id: letters, digits, ``-`` and ``_``.
        ttl: seconds for which it waits in the queue; then it is dropped.
        timeout: seconds for which it may run; RQ's default when left out.

    Raises:
        RedisError, OSError: Valkey is gone, or does not answer in time.
    """
    with suppress(DuplicateJobError):
        job_queue(client, queue).enqueue(
            path,
            job_id=job_id,
            unique=True,
            result_ttl=RESULT_TTL,
            failure_ttl=FAILURE_TTL,
            ttl=ttl,
            job_timeout=timeout,
        )
