"""RQ's worker of one queue, which runs each job in a process of its own, with firm ends."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job

from app.db import connections
from app.jobs import shutdown
from app.jobs.queue import job_queue
from app.jobs.registry import RegisteredJob
from app.running.parent_pipe import ParentPipe

log = logging.getLogger(__name__)

FINISH_WITHIN: Final = 7.0  # seconds that a running job has after SIGTERM
GIVE_UP_WITHIN: Final = 7.7  # seconds after which the worker is gone, whatever holds it
TRY_AGAIN_AFTER: Final = 2.0  # seconds, when the worker stopped as the queue was out of reach

# Seconds. After a worker was killed its job runs again, or is failed, within about 90. An idle
# worker leaves a heartbeat 15 seconds before WORKER_TTL is over, one with a job at each monitoring.
WORKER_TTL: Final = 30
JOB_MONITORING_INTERVAL: Final = 10
MAINTENANCE_INTERVAL: Final = 15


class JobWorker(Worker):
    """Ends at SIGTERM when its job has; other signals are for the process that started it."""

    max_connection_wait_time = 5.0  # seconds; RQ's minute is long after a short outage
    is_stopping = False
    _lifeline: ParentPipe | None = None  # of the running job's process

    def _install_signal_handlers(self) -> None:
        signal.signal(signal.SIGTERM, self.request_stop)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Finish the running job, if that is soon."""
        if self.is_stopping:
            return
        self.is_stopping = True
        threading.Thread(target=self._give_up, daemon=True).start()
        self._tell_horse()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def request_force_stop(self, signum: int, frame: FrameType | None) -> None:
        """It is stopping already; whoever has no time for that kills it."""

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        lifeline = self._lifeline = ParentPipe()
        if self.is_stopping:  # since the job was taken from the queue
            self._tell_horse()
        super().fork_work_horse(job, queue)
        os.close(lifeline.reading)

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        try:
            super().monitor_work_horse(job, queue)
        finally:
            lifeline, self._lifeline = self._lifeline, None
            if lifeline is not None:
                os.close(lifeline.writing)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """The job's process: it goes when the worker is killed, learns when the worker is asked to
        stop, and has its own connections."""
        assert self._lifeline is not None
        self._lifeline.follow(_kill_own_group, told=shutdown.requested.set)
        connections.forget_all()
        super().main_work_horse(job, queue)

    def _tell_horse(self) -> None:
        if self._lifeline is not None:
            self._lifeline.tell()

    def _give_up(self) -> None:
        time.sleep(FINISH_WITHIN)
        if self.horse_pid:  # else RQ would kill this process's own group
            log.warning("a job did not finish in time; it is ended")
            self.kill_horse()
        time.sleep(GIVE_UP_WITHIN - FINISH_WITHIN)
        os._exit(1)


def work_until_stopped(queue: str, find_url: Callable[[], str], *, debug: bool) -> None:
    """Run the jobs of a queue until SIGTERM. Needs an app context.

    RQ's worker ends when the store is out of reach in the middle of a job: then another begins.

    Args:
        find_url: gives the store's address, and may start it.
        debug: whether RQ tells what it does.
    """
    is_down = False
    handler = signal.getsignal(signal.SIGTERM)
    while True:
        try:
            if _work(queue, find_url(), debug=debug):
                return
            is_down = False
        except (RedisError, OSError) as error:
            if not is_down:
                log.error("the worker of %s waits for the queue: %s", queue, error)
            is_down = True
        signal.signal(signal.SIGTERM, handler)  # RQ has put its own in its place
        time.sleep(TRY_AGAIN_AFTER)


def _work(name: str, url: str, *, debug: bool) -> bool:
    """Run jobs; True means that this process was asked to stop."""
    connection = Redis.from_url(url)
    queue = job_queue(connection, name)
    worker = JobWorker(
        [queue],
        connection=connection,
        job_class=RegisteredJob,
        serializer=queue.serializer,
        log_job_description=False,
        worker_ttl=WORKER_TTL,
        job_monitoring_interval=JOB_MONITORING_INTERVAL,
        maintenance_interval=MAINTENANCE_INTERVAL,
    )
    log.info("the worker of %s is ready", name)
    try:
        # RQ tells four lines about each job that goes well, at its level "info".
        worker.work(logging_level="DEBUG" if debug else "WARNING")
    except (RedisError, OSError):
        if not worker.is_stopping:
            raise
    finally:
        listening: Any = worker.pubsub_thread  # goes on by itself when RQ's end was not orderly
        if listening is not None:
            listening.stop()
    return worker.is_stopping


def _kill_own_group() -> None:
    os.killpg(0, signal.SIGKILL)
