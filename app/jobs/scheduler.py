"""The scheduler starts the periodic jobs, each once a period for all workers together."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from app.jobs.queue import enqueue_once, take_former_jobs
from app.jobs.registry import Job, periodic_jobs

log = logging.getLogger(__name__)

CHECK_EVERY: Final = 1.0  # seconds
_LEAST_TTL: Final = 600  # seconds for which a job waits in the queue

# Begins a period of ARGV[1] ms, unless one lasts, and says whether it did. One that would last for
# longer than that is from before the clock was set back.
_BEGIN: Final = """
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= tonumber(ARGV[1]) then
    return 0
end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
"""


class Scheduler:
    """A thread that survives any outage of Valkey, and logs each one once."""

    def __init__(self, connect: Callable[[], Redis], jobs: Iterable[Job] | None = None) -> None:
        self._connect = connect
        self._jobs = periodic_jobs() if jobs is None else tuple(jobs)
        self._connection: Redis | None = None
        self._is_down = False

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="scheduler", daemon=True).start()

    def check(self) -> None:
        """Start the jobs whose period is over. After a failure the next check tries again."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            take_former_jobs(self._connection)
            for job in self._jobs:
                _start_when_due(self._connection, job)
        except (RedisError, OSError) as error:
            self._connection = None
            if not self._is_down:
                log.error("Valkey unavailable, periodic jobs wait: %s", error)
            self._is_down = True
        else:
            if self._is_down:
                log.warning("Valkey is back, periodic jobs continue")
            self._is_down = False

    def _run(self) -> None:
        while True:
            self.check()
            time.sleep(CHECK_EVERY)


def _start_when_due(client: Redis, job: Job) -> None:
    """Start the job if this is the first worker to find the key of its period expired."""
    assert job.every_seconds is not None
    if not client.eval(_BEGIN, 1, f"canopy:periodic:{job.name}", job.every_seconds * 1000):
        return
    if job.signal is not None:
        job.signal.notify(client)
        return
    ttl = max(_LEAST_TTL, job.every_seconds)
    enqueue_once(
        client,
        job.name,
        job_id=f"periodic-{job.name}",
        ttl=ttl,
        queue=job.queue,
        timeout=job.timeout,
    )
