"""The job queue: one, so that a worker takes jobs in the order in which they came."""

from __future__ import annotations

from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

NAME = "canopy"


def job_queue(connection: Redis) -> Queue:
    """The queue behind a connection. Arguments of jobs are JSON: nobody who can write to the
    server runs code in the worker by it, as with RQ's default."""
    return Queue(NAME, connection=connection, serializer=JSONSerializer)
