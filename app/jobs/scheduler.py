"""The scheduler, which starts each periodic job once a period for all workers together."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError

from app.jobs.queue import enqueue_once
from app.jobs.registry import Job, periodic_jobs

log = logging.getLogger(__name__)

CHECK_EVERY: Final = 1.0  # seconds between two calls of ``check``
ASK_EVERY: Final = 5.0  # seconds until Valkey is asked again: it may have lost its keys
_MIN_TTL: Final = 600  # seconds for which a job waits in the queue

# Begins again each period (ARGV, in ms) that is over. Returns the numbers of these, and the ms
# until the next one is over. A key that lasts longer than its period is from before the clock was
# set back.
_BEGIN: Final = """
local over, least = {}, tonumber(ARGV[#ARGV])
for number, key in ipairs(KEYS) do
    local period = tonumber(ARGV[number])
    local left = redis.call('PTTL', key)
    if left < 0 or left > period then
        redis.call('SET', key, '1', 'PX', period)
        table.insert(over, number - 1)
        left = period
    end
    least = math.min(least, left)
end
return {over, least}
"""


class Scheduler:
    """Starts jobs. Survives outages of Valkey, and logs each once.

    Args:
        database: makes the context in which jobs look whether they are due.
    """

    def __init__(
        self,
        connect: Callable[[], Redis],
        jobs: Iterable[Job] | None = None,
        *,
        database: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._connect = connect
        self._database = database
        self._jobs = periodic_jobs() if jobs is None else tuple(jobs)
        self._connection: Redis | None = None
        self._is_down = False
        self._ask_at = 0.0

    def check(self) -> None:
        """Start the jobs whose period is over. After a failure, the next check tries again."""
        if time.monotonic() < self._ask_at:
            return
        try:
            if self._connection is None:
                self._connection = self._connect()
            self._start_due(self._connection)
        except (RedisError, OSError) as error:
            self._connection = None
            if not self._is_down:
                log.error("Valkey unavailable, periodic jobs wait: %s", error)
            self._is_down = True
        else:
            if self._is_down:
                log.warning("Valkey is back, periodic jobs continue")
            self._is_down = False

    def _start_due(self, client: Redis) -> None:
        """Start the jobs whose period is over and that have something to do, unless another worker
        was first."""
        keys = [f"canopy:periodic:{job.name}" for job in self._jobs]
        periods = [(job.every_seconds or 0) * 1000 for job in self._jobs]
        limit = int(ASK_EVERY * 1000)
        reply: Any = client.eval(_BEGIN, len(keys), *keys, *periods, limit)
        over, left = reply
        self._ask_at = time.monotonic() + left / 1000
        if not over:
            return
        with self._database():
            due = [job for job in map(self._jobs.__getitem__, over) if _is_due(job)]
        for job in due:
            _start_job(client, job)


def _is_due(job: Job) -> bool:
    """True if a job has something to do, or that cannot be found out: then its run shows why."""
    try:
        return job.is_due is None or job.is_due()
    except Exception:  # the database may fail in any way
        return True


def _start_job(client: Redis, job: Job) -> None:
    if job.signal is not None:
        job.signal.notify(client)
        return
    enqueue_once(
        client,
        job.name,
        job_id=f"periodic-{job.name}",
        ttl=max(_MIN_TTL, job.every_seconds or 0),
        queue=job.queue,
        timeout=job.timeout,
    )
