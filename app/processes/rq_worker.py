"""RQ's worker, which runs each job in a separate process, with time limits for stopping.

RQ documents neither the methods that ``JobWorker`` overrides nor where it keeps heartbeats, so no
other module uses these names. ``RQ_VERSION`` is the version that they were read in; requirements.in
pins it, and ``tests/processes/test_library_internals.py`` compares the names.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from types import FrameType
from typing import Any, Final

from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.exceptions import DequeueTimeout, StopRequested
from rq.job import Job
from rq.utils import utcparse
from rq.worker import WorkerStatus
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from app.db import connections
from app.jobs import shutdown
from app.jobs.queue import valkey_name
from app.processes.parent_pipe import ParentPipe

log = logging.getLogger(__name__)

RQ_VERSION: Final = "2.12.0"

FINISH_WITHIN: Final = 7.0  # seconds that a running job has after SIGTERM
GIVE_UP_WITHIN: Final = 7.7  # seconds after SIGTERM until the worker exits in any case

# Seconds. An idle worker asks for a job again and again, and notices within the sum of the two that
# Valkey's host is gone, which closes no connection.
ASK_FOR: Final = 1
ANSWER_WITHIN: Final = 2

HEARTBEAT_FIELD: Final = "last_heartbeat"  # of the hash that each worker keeps


class JobWorker(Worker):
    """Stops at SIGTERM when its job has finished; other signals are for the parent process.

    When Valkey fails, ``work`` returns and ``failure`` is the error; start another one then. RQ
    would log each attempt to reach it, and would not register again with a server that lost its
    data.
    """

    failure: RedisError | None = None
    on_registered: Callable[[], None]  # called when Valkey took the worker's registration
    is_stopping = False
    job_memory: int | None = None  # bytes that a job may take
    _job_pipe: ParentPipe | None = None  # to the process of the running job

    @property
    def dequeue_timeout(self) -> int:
        return ASK_FOR

    @property
    def connection_timeout(self) -> int:
        return ASK_FOR + ANSWER_WITHIN

    def register_birth(self) -> None:
        super().register_birth()  # type: ignore[no-untyped-call]
        self.on_registered()

    def subscribe(self) -> None:
        """Do not listen for RQ's commands: nobody here sends any."""

    def check_for_suspension(self, burst: bool) -> None:
        """Do nothing: nobody here suspends workers."""

    def run_maintenance_tasks(self) -> None:
        with self._stop_on_failure():
            super().run_maintenance_tasks()  # type: ignore[no-untyped-call]

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue]:
        """Wait for a job, however long."""
        self.set_state(WorkerStatus.IDLE)
        while True:
            self.heartbeat()
            if self.should_run_maintenance_tasks:
                self.run_maintenance_tasks()
            with self._stop_on_failure(), suppress(DequeueTimeout):
                return self._dequeue(timeout)

    def execute_job(self, job: Job, queue: Queue) -> None:
        with self._stop_on_failure():
            super().execute_job(job, queue)

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        with self._stop_on_failure():
            super().heartbeat(timeout, pipeline)

    def set_current_job_working_time(
        self, current_job_working_time: float, pipeline: Any = None
    ) -> None:
        """Let the job go on while Valkey is down. RQ ends jobs that take too long."""
        with suppress(RedisError):
            super().set_current_job_working_time(current_job_working_time, pipeline)

    def maintain_heartbeats(self, job: Job) -> None:
        """Let the job go on while Valkey is down."""
        with suppress(RedisError):
            super().maintain_heartbeats(job)

    def teardown(self) -> None:
        if self.failure is None:
            super().teardown()  # type: ignore[no-untyped-call]

    def _install_signal_handlers(self) -> None:
        signal.signal(signal.SIGTERM, self.request_stop)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Let the running job finish, within the time limit."""
        if self.is_stopping:
            return
        self.is_stopping = True
        threading.Thread(target=self._exit_in_time, daemon=True).start()
        self._notify_job()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def request_force_stop(self, signum: int, frame: FrameType | None) -> None:
        """Do nothing: it is stopping already, and the parent can kill it."""

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        pipe = self._job_pipe = ParentPipe()
        if self.is_stopping:  # SIGTERM came after the job was taken from the queue
            self._notify_job()
        super().fork_work_horse(job, queue)
        os.close(pipe.reading)

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        try:
            super().monitor_work_horse(job, queue)
        finally:
            pipe, self._job_pipe = self._job_pipe, None
            if pipe is not None:
                os.close(pipe.writing)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Run a job in its process, which dies with the worker, learns when the worker is asked to
        stop, has its own database connections, and fails when it takes too much memory."""
        assert self._job_pipe is not None
        _limit_memory(self.job_memory)
        self._job_pipe.follow(_kill_own_group, on_message=shutdown.requested.set)
        connections.forget_all()
        connections.read_clock()
        super().main_work_horse(job, queue)

    def _dequeue(self, timeout: int | None) -> tuple[Job, Queue]:
        """The next job. Raises RQ's DequeueTimeout if none came."""
        found = self.queue_class.dequeue_any(
            self._ordered_queues,
            timeout,
            connection=self.connection,
            job_class=self.job_class,
            serializer=self.serializer,
            death_penalty_class=self.death_penalty_class,
        )
        assert found is not None  # as there is a timeout
        found[0].redis_server_version = self.get_redis_server_version()  # type: ignore[no-untyped-call]
        self.heartbeat()
        return found

    @contextmanager
    def _stop_on_failure(self) -> Iterator[None]:
        try:
            yield
        except RedisError as error:
            self.failure = error
            raise StopRequested from error

    def _notify_job(self) -> None:
        if self._job_pipe is not None:
            self._job_pipe.notify()

    def _exit_in_time(self) -> None:
        time.sleep(FINISH_WITHIN)
        if self.horse_pid:  # else RQ would kill this process's own group
            log.warning("killed a job that did not finish within %.0f s", FINISH_WITHIN)
            self.kill_horse()
        time.sleep(GIVE_UP_WITHIN - FINISH_WITHIN)
        os._exit(1)


def workers_key(queue: str) -> str:
    """The key of the set that holds the keys of a queue's workers."""
    return WORKERS_BY_QUEUE_KEY % valkey_name(queue)


def parse_heartbeat(text: bytes) -> datetime:
    """The time in ``HEARTBEAT_FIELD``."""
    return utcparse(text.decode())


def _limit_memory(size: int | None) -> None:
    """Raise MemoryError in this process when it takes more than ``size`` bytes; not on macOS.
    Memory that is reserved for stacks of threads counts, and code does not."""
    if size is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _kill_own_group() -> None:
    os.killpg(0, signal.SIGKILL)
