"""The job queues. A worker runs them beside one another, and takes the jobs of each in the order in
which they came: so neither deliveries of events nor mails wait for anything else.

Queues hold the names of jobs. Former versions put dotted paths of functions on queues that have
other names in Valkey: so the workers of both find only what they know while hosts are upgraded one
by one. Jobs that a former version left there are moved (``take_former_jobs``) and run by path.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.serializers import JSONSerializer

GENERAL: Final = "canopy"
DELIVERIES: Final = "canopy-deliveries"
IMPORTS: Final = "canopy-imports"
MAILS: Final = "canopy-mails"
QUEUES: Final = (GENERAL, DELIVERIES, IMPORTS, MAILS)

RESULT_TTL: Final = 0  # seconds
FAILURE_TTL: Final = 5  # seconds for which a failed job keeps its id, and thus the next one off

# Moves the jobs of the queue KEYS[1] to the queue KEYS[2], whose name is ARGV[1].
_TAKE: Final = """
while true do
    local id = redis.call('LMOVE', KEYS[1], KEYS[2], 'LEFT', 'RIGHT')
    if not id then
        return
    end
    if redis.call('EXISTS', ARGV[2] .. id) == 1 then
        redis.call('HSET', ARGV[2] .. id, 'origin', ARGV[1])
    end
end
"""


def valkey_name(name: str) -> str:
    """The name of a queue in Valkey."""
    return f"{name}:named"


def job_queue(connection: Redis, name: str = GENERAL) -> Queue:
    """A queue, by name. Arguments of jobs are JSON, which holds no code, unlike RQ's default,
    pickles."""
    return Queue(valkey_name(name), connection=connection, serializer=JSONSerializer)


def take_former_jobs(client: Redis) -> None:
    """Move the jobs that former versions queued to today's queues.

    To be deleted, with ``register_former``, after one release. Raises RedisError or OSError.
    """
    for name in QUEUES:
        former, queue = Queue(name, client), job_queue(client, name)
        client.eval(_TAKE, 2, former.key, queue.key, queue.name, Job.key_for(""))


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
