"""Puts the periodic jobs of ``policy.schedule`` on the queue, or rings their bells, once a period
for all workers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from redis import Redis
from redis.exceptions import RedisError
from rq.exceptions import DuplicateJobError

from app.core.bells import BELLS
from app.core.queue import job_queue
from app.policy.schedule import PERIODIC, Periodic

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds
FAILURE_TTL = 5  # seconds; a failed run keeps its id, and with it the next run away, for this long


class Ticker:
    """A thread that goes on whatever happens to the server, and logs an outage once."""

    def __init__(
        self, connect: Callable[[], Redis], periodic: Iterable[Periodic] = PERIODIC
    ) -> None:
        self._connect = connect
        self._periodic = tuple(periodic)
        self._connection: Redis | None = None
        self._is_down = False

    def start(self) -> None:
        threading.Thread(target=self._run, name="ticker", daemon=True).start()

    def tick(self) -> None:
        """Enqueue what is due. A failure is for the next time."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            for periodic in self._periodic:
                _start_when_due(self._connection, periodic)
        except (RedisError, OSError) as error:
            self._connection = None
            if not self._is_down:
                log.error("periodic jobs wait for the queue: %s", error)
            self._is_down = True
        else:
            if self._is_down:
                log.warning("periodic jobs go on")
            self._is_down = False

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self.tick()
            pause.wait(LOOK_EVERY)


def _start_when_due(connection: Redis, periodic: Periodic) -> None:
    """The first worker to find the period's key expired sets it, and enqueues or rings."""
    key = f"canopy:periodic:{periodic.name}"
    if not connection.set(key, "1", nx=True, ex=periodic.every_seconds):
        return
    if periodic.bell is not None:
        BELLS[periodic.bell].ring(connection)
        return
    with suppress(DuplicateJobError):  # the last one waits or runs still
        job_queue(connection).enqueue(
            periodic.function_path,
            job_id=f"periodic-{periodic.name}",
            unique=True,
            result_ttl=0,
            failure_ttl=FAILURE_TTL,
            ttl=max(600, periodic.every_seconds),
        )
