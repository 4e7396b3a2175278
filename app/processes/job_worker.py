"""The worker: runs the jobs of some queues beside one another until it is asked to stop.

One thread waits for everything in one place: jobs, processes of jobs that end, signals, the end of
``bin/serve``, and what is due by the clock. So no queue waits for another, an idle worker is one
process, and a fork meets no thread that holds a lock.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from app.jobs.valkey_client import make_client
from app.processes.child_process import changed_processes
from app.processes.rq_worker import ANSWER_WITHIN, ASK_FOR, QueueWorker
from app.processes.signal_pipe import StopRequests

log = logging.getLogger(__name__)

FINISH_WITHIN: Final = 7.0  # seconds that running jobs have after SIGTERM
GIVE_UP_WITHIN: Final = 7.7  # seconds after SIGTERM until the worker exits in any case
RETRY_AFTER: Final = 1.0  # seconds, when Valkey was unavailable
_TEND_EVERY: Final = 1.0  # seconds

# How the worker is connected. It is not redis-py that tries again: it would ask the server that it
# knows, and not the Sentinels.
_CONNECTION: Final[dict[str, Any]] = {
    "socket_timeout": ASK_FOR + ANSWER_WITHIN,
    "socket_connect_timeout": ANSWER_WITHIN,
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
}


class JobWorker:
    """Runs one job of each queue at a time, each in a process of its own.

    Args:
        resolve_url: returns the URL of Valkey, and may start it.
        periodic: functions that are called every so many seconds, and raise nothing.
        debug: have RQ log each job.
        job_memory: the most bytes that a job may take before it fails. None: no limit.
    """

    def __init__(
        self,
        queues: Sequence[str],
        resolve_url: Callable[[], str],
        *,
        periodic: Mapping[Callable[[], None], float],
        debug: bool,
        job_memory: int | None = None,
    ) -> None:
        self._waiting = dict.fromkeys(queues, 0.0)  # until when, for Valkey
        self._workers: dict[str, QueueWorker] = {}
        self._resolve_url = resolve_url
        self._periodic = periodic
        self._due_at = dict.fromkeys(periodic, 0.0)
        self._job_memory = job_memory
        self._down_since: float | None = None
        self._stop = StopRequests(self._begin_to_stop)
        for name in ("rq.worker", "rq.job"):  # at its level INFO, RQ logs four lines for each job
            logging.getLogger(name).setLevel("DEBUG" if debug else "WARNING")

    def run(self) -> None:
        """Run jobs until SIGTERM, SIGINT or the end of ``bin/serve``. Then let the running ones
        finish; a second signal ends them. Needs an app context."""
        while self._stop.first_at is None:
            self._call_periodic()
            self._connect()
            self._each(QueueWorker.tend)
            self._wait()
        self._each(QueueWorker.ask_to_stop)
        while any(worker.is_busy for worker in self._workers.values()):
            self._wait()
        for worker in self._workers.values():
            worker.end()

    def _begin_to_stop(self) -> None:
        if self._stop.is_urgent:
            os._exit(1)
        # At once, as this thread may be waiting for a Valkey that hangs.
        threading.Thread(target=self._exit_in_time, daemon=True).start()

    def _call_periodic(self) -> None:
        now = time.monotonic()
        for function, seconds in self._periodic.items():
            if now >= self._due_at[function]:
                self._due_at[function] = now + seconds
                function()

    def _connect(self) -> None:
        """Have a worker for each queue."""
        for queue in [*self._waiting]:
            if time.monotonic() < self._waiting[queue]:
                continue
            try:
                client = make_client(self._resolve_url(), **_CONNECTION)
                worker = QueueWorker(queue, client, job_memory=self._job_memory)
                worker.begin()
            except (RedisError, OSError) as error:
                self._lose(queue, error)
                return
            del self._waiting[queue]
            self._workers[queue] = worker
            log.info("worker %s: ready", queue)
        if self._down_since is not None and not self._waiting:
            seconds, self._down_since = time.monotonic() - self._down_since, None
            log.warning("Valkey is back after %.1f s", seconds)

    def _each(self, step: Callable[..., None], *arguments: Any) -> None:
        """Have each worker do a step."""
        for queue, worker in [*self._workers.items()]:
            try:
                step(worker, *arguments)
            except (RedisError, OSError) as error:
                if not worker.is_busy:
                    self._lose(queue, error)

    def _lose(self, queue: str, error: Exception) -> None:
        """Have another worker for a queue in a moment, as Valkey failed."""
        if self._down_since is None:
            self._down_since = time.monotonic()
            log.error("Valkey unavailable, jobs wait: %s", error)
        self._workers.pop(queue, None)
        self._waiting[queue] = time.monotonic() + RETRY_AFTER

    def _wait(self) -> None:
        """Wait for jobs, ends of their processes and signals, for a moment."""
        asking = [worker.asking for worker in self._workers.values()]
        readable = self._stop.wait(_TEND_EVERY, [each for each in asking if each is not None])
        for changed in changed_processes():
            self._each(QueueWorker.note_process, *changed)
        if self._stop.first_at is None:
            self._each(lambda worker: worker.take() if worker.asking in readable else None)

    def _exit_in_time(self) -> None:
        time.sleep(FINISH_WITHIN)
        for worker in self._workers.values():
            if worker.is_busy:
                log.warning("killed a job that did not finish within %.0f s", FINISH_WITHIN)
                worker.kill_horse()
        time.sleep(GIVE_UP_WITHIN - FINISH_WITHIN)
        os._exit(1)
