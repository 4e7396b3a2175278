"""The job queues. Each has a worker process of its own, which takes jobs in the order in which they
came: so deliveries of events wait for no other job."""

from __future__ import annotations

import re
from typing import Any, Final

from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

GENERAL: Final = "canopy"
DELIVERIES: Final = "canopy-deliveries"
QUEUES: Final = (GENERAL, DELIVERIES)

_OWN: Final = re.compile(r"app\.(?:[a-z_]+\.)?jobs\.[a-z_]+")


class OwnJob(Job):
    """A job of this service. A queue holds names of functions, and whoever can write to it could
    name any: so only those in ``app/<room>/jobs.py`` are run, and no callbacks."""

    success_callback = None
    failure_callback = None
    stopped_callback = None

    def perform(self) -> Any:
        """Run it. Raises PermissionError for a function that is no job of the service."""
        if not _OWN.fullmatch(self.func_name or ""):
            raise PermissionError(f"{self.func_name} is no job of this service.")
        return super().perform()


def job_queue(connection: Redis, name: str = GENERAL) -> Queue:
    """The queue of a name behind a connection. Arguments of jobs are JSON, which holds no code, as
    the pickles of RQ's default do."""
    return Queue(name, connection=connection, serializer=JSONSerializer)
