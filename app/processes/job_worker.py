"""The worker: runs the jobs of several queues side by side until it is asked to stop.

One thread waits for everything: jobs, ends of their processes, signals, the end of ``bin/serve``,
and periodic calls. So no queue waits for another, an idle worker is one process, and no thread
holds a lock during a fork.
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

# The worker itself connects again: redis-py would retry the server that it knows instead of asking
# the Sentinels.
_CONNECTION: Final[dict[str, Any]] = {
    "socket_timeout": ASK_FOR + ANSWER_WITHIN,
    "socket_connect_timeout": ANSWER_WITHIN,
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
}


class JobWorker:
    """Runs one job of each queue at a time, each in its own process.

    Args:
        resolve_url: returns the URL of Valkey, and may start it.
        periodic: functions to call, with the interval in seconds. They raise nothing.
        debug: have RQ log each job.
        job_memory: memory limit of a job in bytes. None: no limit.
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
        self._connect_at = dict.fromkeys(queues, 0.0)  # by queue without a worker
        self._workers: dict[str, QueueWorker] = {}
        self._resolve_url = resolve_url
        self._periodic = periodic
        self._due_at = dict.fromkeys(periodic, 0.0)
        self._job_memory = job_memory
        self._down_since: float | None = None  # when Valkey failed
        self._stop = StopRequests(self._begin_to_stop)
        for name in ("rq.worker", "rq.job"):  # at level INFO, RQ logs four lines for each job
            logging.getLogger(name).setLevel("DEBUG" if debug else "WARNING")

    def run(self) -> None:
        """Run jobs until SIGTERM, SIGINT or the end of ``bin/serve``. Then let the running ones
        finish; a second signal ends them. Needs an app context."""
        while self._stop.first_at is None:
            self._call_periodic()
            self._connect()
            self._for_each_worker(QueueWorker.tend)
            self._wait()
        self._for_each_worker(QueueWorker.ask_to_stop)
        while any(worker.is_busy for worker in self._workers.values()):
            self._wait()
        for worker in self._workers.values():
            worker.end()

    def _begin_to_stop(self) -> None:
        if self._stop.is_urgent:
            os._exit(1)
        # In a thread, as this one may be waiting for a Valkey that hangs.
        threading.Thread(target=self._exit_in_time, daemon=True).start()

    def _call_periodic(self) -> None:
        now = time.monotonic()
        for function, seconds in self._periodic.items():
            if now >= self._due_at[function]:
                self._due_at[function] = now + seconds
                function()

    def _connect(self) -> None:
        """Make a worker for each queue that has none."""
        for queue in [*self._connect_at]:
            if time.monotonic() < self._connect_at[queue]:
                continue
            try:
                client = make_client(self._resolve_url(), **_CONNECTION)
                worker = QueueWorker(queue, client, job_memory=self._job_memory)
                worker.begin()
            except (RedisError, OSError) as error:
                self._lose(queue, error)
                return
            del self._connect_at[queue]
            self._workers[queue] = worker
            log.info("worker %s: ready", queue)
        if self._down_since is not None and not self._connect_at:
            seconds, self._down_since = time.monotonic() - self._down_since, None
            log.warning("Valkey is back after %.1f s", seconds)

    def _for_each_worker(self, step: Callable[..., None], *arguments: Any) -> None:
        """Call ``step`` with each worker. Drops idle workers for which Valkey fails."""
        for queue, worker in [*self._workers.items()]:
            try:
                step(worker, *arguments)
            except (RedisError, OSError) as error:
                if not worker.is_busy:
                    self._lose(queue, error)

    def _lose(self, queue: str, error: Exception) -> None:
        """Drop the worker of a queue, as Valkey failed. ``_connect`` makes another one soon."""
        if self._down_since is None:
            self._down_since = time.monotonic()
            log.error("Valkey unavailable, jobs wait: %s", error)
        self._workers.pop(queue, None)
        self._connect_at[queue] = time.monotonic() + RETRY_AFTER

    def _wait(self) -> None:
        """Wait a moment for jobs, ends of their processes and signals."""
        descriptors = [worker.asking for worker in self._workers.values()]
        readable = self._stop.wait(_TEND_EVERY, [fd for fd in descriptors if fd is not None])
        for change in changed_processes():
            self._for_each_worker(QueueWorker.note_process, *change)
        if self._stop.first_at is None:
            self._for_each_worker(
                lambda worker: worker.take() if worker.asking in readable else None
            )

    def _exit_in_time(self) -> None:
        time.sleep(FINISH_WITHIN)
        for worker in self._workers.values():
            if worker.is_busy:
                log.warning("killed a job that did not finish within %.0f s", FINISH_WITHIN)
                worker.kill_horse()
        time.sleep(GIVE_UP_WITHIN - FINISH_WITHIN)
        os._exit(1)
