"""RQ's worker for one queue, made non-blocking: it waits neither for jobs nor for their processes.

RQ documents neither the methods that ``QueueWorker`` overrides or calls nor the place of
heartbeats, so no other module uses these names. They are those of ``RQ_VERSION``, which
requirements.in pins; ``tests/processes/test_library_internals.py`` compares them.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeout
from rq import Queue, Worker
from rq.exceptions import NoSuchJobError
from rq.job import Job, JobStatus
from rq.utils import utcparse
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from app.db import connections
from app.jobs import shutdown
from app.jobs.queue import job_queue
from app.jobs.registry import RegisteredJob, known_name
from app.jobs.shared_metrics import Additions
from app.processes.child_process import STOPPED_FOR
from app.processes.parent_pipe import ParentPipe

log = logging.getLogger(__name__)

RQ_VERSION: Final = "2.12.0"

# Seconds. An idle worker asks for a job again and again. If Valkey's host vanishes, which closes no
# connection, it notices within the sum of the two.
ASK_FOR: Final = 5
ANSWER_WITHIN: Final = 2

# Seconds. The job of a killed worker runs again, or fails, within about 90. An idle worker writes a
# heartbeat each time that it asks, a busy one at each monitoring.
WORKER_TTL: Final = 30
JOB_MONITORING_INTERVAL: Final = 10
MAINTENANCE_INTERVAL: Final = 15

_OVERTIME: Final = 60  # seconds after its timeout until a job is killed

SEEN_FOR: Final = 60  # seconds for which a queue counts as having a worker

HEARTBEAT_FIELD: Final = "last_heartbeat"  # in a worker's hash
STATUS_FIELD: Final = "status"  # in a job's hash


class QueueWorker(Worker):
    """Asks for a job of a queue, forks a process for it, and asks again when that has ended.

    Each method may raise RedisError or OSError when Valkey is unavailable. Replace the worker then,
    once it is not busy.

    Args:
        job_memory: memory limit of a job in bytes. None: no limit.
    """

    def __init__(self, name: str, client: Redis, *, job_memory: int | None) -> None:
        self._queue = job_queue(client, name)
        super().__init__(
            [self._queue],
            connection=client,
            job_class=RegisteredJob,
            serializer=self._queue.serializer,
            log_job_description=False,
            worker_ttl=WORKER_TTL,
            job_monitoring_interval=JOB_MONITORING_INTERVAL,
            maintenance_interval=MAINTENANCE_INTERVAL,
        )
        self._job_memory = job_memory
        self._connection: Any = client.connection_pool.get_connection()  # for asking
        self._asked_at: float | None = None
        self._is_ending = False
        self._job: Job | None = None
        self._job_pipe: ParentPipe | None = None  # to the job's process
        self._job_end: tuple[int, int, Any] | None = None  # as wait4 returned it
        self._job_began = self._tended_at = 0.0
        self._stopped_at: float | None = None  # when a signal stopped the job's process

    @property
    def is_busy(self) -> bool:
        """True while a job runs."""
        return self._job is not None

    @property
    def asking(self) -> int | None:
        """The descriptor to read the answer from, while it asks for a job."""
        is_asking = self._asked_at is not None and self._connection._sock is not None
        return self._connection._sock.fileno() if is_asking else None

    def begin(self) -> None:
        """Register in Valkey, and ask for the first job."""
        self.register_birth()  # type: ignore[no-untyped-call]
        self._ask()

    def take(self) -> None:
        """Read the answer, and start the job in it. Ask again if there is none."""
        identifier = self._connection.read_response()
        self._asked_at = None
        job = None
        if identifier is not None:
            with suppress(NoSuchJobError):  # it has expired
                job = RegisteredJob.fetch(identifier.decode(), self.connection, self.serializer)
        if job is None:
            self._ask()
        else:
            self._start(job)

    def tend(self) -> None:
        """Write a heartbeat when one is due, kill a job that takes too long or is stopped, and
        raise RedisError when Valkey does not answer."""
        now = time.monotonic()
        if self._asked_at is not None and now > self._asked_at + ASK_FOR + ANSWER_WITHIN:
            raise RedisTimeout("no answer")
        if self._job is None:
            return
        is_stopped = self._stopped_at is not None and now > self._stopped_at + STOPPED_FOR
        took_too_long = now > self._job_began + (self._job.timeout or 0) + _OVERTIME
        if is_stopped or took_too_long:
            self.kill_horse()
        elif now > self._tended_at + JOB_MONITORING_INTERVAL:
            self._tended_at = now
            self.set_current_job_working_time(now - self._job_began)
            self.maintain_heartbeats(self._job)
            self._note_seen()

    def note_process(self, pid: int, status: int, usage: Any) -> None:
        """Process what ``wait4`` returned for a process. If it is the job's and has ended,
        ask for the next job."""
        if pid != self.horse_pid or self._job is None:
            return
        if os.WIFSTOPPED(status):
            self._stopped_at = time.monotonic()
        elif os.WIFCONTINUED(status):
            self._stopped_at = None
        else:
            self._job_end = pid, status, usage
            job, self._job, self._stopped_at = self._job, None, None
            pipe, self._job_pipe = self._job_pipe, None
            if pipe is not None:
                os.close(pipe.writing)
            self.monitor_work_horse(job, self._queue)
            self._count(job)
            self._ask()

    def ask_to_stop(self) -> None:
        """Ask for no more jobs, and tell the running one to end soon."""
        self._is_ending = True
        self._connection.disconnect()
        self._asked_at = None
        if self._job_pipe is not None:
            self._job_pipe.notify()

    def end(self) -> None:
        """Unregister in Valkey."""
        self._connection.disconnect()
        with suppress(RedisError, OSError):
            self.register_death()  # type: ignore[no-untyped-call]

    def wait_for_horse(self) -> tuple[int | None, int | None, Any]:
        """Return how the job's process has ended, for RQ."""
        assert self._job_end is not None
        return self._job_end

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        pipe = self._job_pipe = ParentPipe()
        super().fork_work_horse(job, queue)
        os.close(pipe.reading)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Run a job in its own process, which dies with the worker, hears when the worker is asked
        to stop, has its own database connections, and fails when it takes too much memory."""
        assert self._job_pipe is not None
        _be_killed_first()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the handlers are the worker's
        _limit_memory(self._job_memory)
        self._job_pipe.follow(_kill_own_group, on_message=shutdown.requested.set)
        connections.forget_all()
        connections.read_clock()
        super().main_work_horse(job, queue)

    def _count(self, job: Job) -> None:
        """Count a job that ended. Only the hash of a failed job still exists."""
        has_failed = self.connection.hget(job.key, STATUS_FIELD) == JobStatus.FAILED.value.encode()
        name, seconds = known_name(job.func_name), time.monotonic() - self._job_began
        additions = Additions()
        additions.count("canopy_jobs_total", name, "failed" if has_failed else "succeeded")
        additions.observe("canopy_job_duration_seconds", name, seconds=seconds)
        additions.write(self.connection)

    def _ask(self) -> None:
        if self._is_ending:
            return
        if self.should_run_maintenance_tasks:
            self.run_maintenance_tasks()  # type: ignore[no-untyped-call]
        self.heartbeat()
        self._note_seen()
        keys = self._queue.key, self._queue.intermediate_queue_key
        self._connection.connect()
        self._connection.send_command("BLMOVE", *keys, "LEFT", "RIGHT", ASK_FOR)
        self._asked_at = time.monotonic()

    def _note_seen(self) -> None:
        self.connection.set(seen_key(self._queue.name), "1", ex=SEEN_FOR)

    def _start(self, job: Job) -> None:
        job.redis_server_version = self.get_redis_server_version()  # type: ignore[no-untyped-call]
        self.prepare_execution(job)
        self._job_began = self._tended_at = time.monotonic()
        self.fork_work_horse(job, self._queue)
        self._job = job


def workers_key(queue: str) -> str:
    """Return the key of the set with the keys of a queue's workers."""
    return WORKERS_BY_QUEUE_KEY % queue


def seen_key(name: str) -> str:
    """Return the key that exists while a queue has a worker, and ``SEEN_FOR`` seconds longer."""
    return f"canopy:worked:{name}"


def parse_heartbeat(text: bytes) -> datetime:
    """Parse the time in ``HEARTBEAT_FIELD``."""
    return utcparse(text.decode())


def _limit_memory(size: int | None) -> None:
    """Make this process raise MemoryError beyond ``size`` bytes; not on macOS. Reserved stacks of
    threads count, code does not."""
    if size is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _be_killed_first() -> None:
    """If the machine runs out of memory, let the kernel kill this process and its children before
    the web server and Valkey: a job runs again. Linux only."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def _kill_own_group() -> None:
    os.killpg(0, signal.SIGKILL)
