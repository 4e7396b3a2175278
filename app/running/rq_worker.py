"""RQ's worker, which runs each job in a process of its own, with time limits for stopping.

RQ documents neither the methods that ``JobWorker`` overrides nor where it keeps heartbeats, so no
other module uses these names. ``RQ_VERSION`` is the version that they were read in; requirements.in
pins it, and ``tests/running/test_library_internals.py`` compares the names.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from datetime import datetime
from types import FrameType
from typing import Any, Final

from rq import Queue, Worker
from rq.job import Job
from rq.utils import utcparse
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from app.db import connections
from app.jobs import shutdown
from app.running.parent_pipe import ParentPipe

log = logging.getLogger(__name__)

RQ_VERSION: Final = "2.12.0"

FINISH_WITHIN: Final = 7.0  # seconds that a running job has after SIGTERM
GIVE_UP_WITHIN: Final = 7.7  # seconds after SIGTERM until the worker exits in any case

HEARTBEAT_FIELD: Final = "last_heartbeat"  # of the hash that each worker keeps


class JobWorker(Worker):
    """Stops at SIGTERM when its job has finished; other signals are for the parent process."""

    max_connection_wait_time = 5.0  # seconds; RQ's 60 are long after a short outage
    is_stopping = False
    _job_pipe: ParentPipe | None = None  # to the process of the running job

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
        """The job's process. It dies with the worker, learns when the worker is asked to stop, and
        has its own database connections."""
        assert self._job_pipe is not None
        self._job_pipe.follow(_kill_own_group, on_message=shutdown.requested.set)
        connections.forget_all()
        super().main_work_horse(job, queue)

    def stop_listening(self) -> None:
        """End the thread that receives RQ's commands. It outlives a worker that failed."""
        thread: Any = self.pubsub_thread
        if thread is not None:
            thread.stop()

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
    return WORKERS_BY_QUEUE_KEY % queue


def parse_heartbeat(text: bytes) -> datetime:
    """The time in ``HEARTBEAT_FIELD``."""
    return utcparse(text.decode())


def _kill_own_group() -> None:
    os.killpg(0, signal.SIGKILL)
