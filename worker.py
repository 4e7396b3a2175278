"""The worker: runs the jobs of the queue and puts the periodic ones on it. ``python worker.py``."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from logging import getLogger
from types import FrameType
from typing import Any, NoReturn

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job

from app import create_app
from app.core import connections, logging
from app.core.migrations import make_first_tables
from app.core.queue import OwnJob, job_queue
from app.core.store import connect
from app.running.embedded import EmbeddedError, redis_url
from app.running.lifeline import Lifeline, end_with_supervisor
from app.running.ticker import Ticker
from config import Settings, SettingsError, load_settings

log = getLogger("canopy.worker")

FINISH_WITHIN = 7.0  # seconds that a running job has after SIGTERM
GIVE_UP_WITHIN = 8.0  # seconds after which the worker is gone, whatever holds it
TRY_AGAIN_AFTER = 2.0  # seconds, when the worker stopped because the queue was out of reach

# Seconds. After a worker was killed its job runs again, or is failed, within about 90.
WORKER_TTL = 60
JOB_MONITORING_INTERVAL = 10
MAINTENANCE_INTERVAL = 15


class JobWorker(Worker):
    """RQ's worker, which runs each job in a process of its own, with firm ends."""

    max_connection_wait_time = 5.0  # seconds; RQ's minute is long after a short outage
    is_stopping = False

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Finish the running job, if that is soon."""
        self.is_stopping = True
        threading.Thread(target=self._give_up, daemon=True).start()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        self._lifeline = Lifeline()
        super().fork_work_horse(job, queue)
        os.close(self._lifeline.reading)

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        try:
            super().monitor_work_horse(job, queue)
        finally:
            os.close(self._lifeline.writing)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """The job's process: it goes when the worker is killed, and has its own connections."""
        self._lifeline.follow(_kill_own_group)
        connections.forget_all()
        super().main_work_horse(job, queue)

    def _give_up(self) -> None:
        time.sleep(FINISH_WITHIN)
        if self.horse_pid:  # else RQ would kill this process's own group
            log.warning("a job did not finish in time; it is ended")
            self.kill_horse()
        time.sleep(GIVE_UP_WITHIN - FINISH_WITHIN)
        os._exit(1)


def main() -> int:
    end_with_supervisor(GIVE_UP_WITHIN + 0.5)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)
    try:
        settings = load_settings()
        logging.configure(settings)
        app = create_app(settings)
        make_first_tables(app)
        redis_url(settings)
    except (SettingsError, EmbeddedError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with app.app_context():
        Ticker(lambda: connect(redis_url(settings))).start()
        _work_until_stopped(settings)
    return 0


def _work_until_stopped(settings: Settings) -> None:
    """RQ's worker ends when the queue is out of reach in the middle of a job: then begin anew."""
    is_down = False
    while True:
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            if _work(settings):
                return
            is_down = False
        except (RedisError, OSError) as error:
            if not is_down:
                log.error("the worker waits for the queue: %s", error)
            is_down = True
        for number, handler in handlers.items():  # RQ has put its own in their place
            signal.signal(number, handler)
        time.sleep(TRY_AGAIN_AFTER)


def _work(settings: Settings) -> bool:
    """Run jobs; True means that this process was asked to stop."""
    connection = Redis.from_url(redis_url(settings))
    queue = job_queue(connection)
    worker = JobWorker(
        [queue],
        connection=connection,
        job_class=OwnJob,
        serializer=queue.serializer,
        log_job_description=False,
        worker_ttl=WORKER_TTL,
        job_monitoring_interval=JOB_MONITORING_INTERVAL,
        maintenance_interval=MAINTENANCE_INTERVAL,
    )
    log.info("the worker is ready")
    try:
        # RQ tells four lines about each job that goes well, at its level "info".
        worker.work(logging_level="DEBUG" if settings.log_level == "debug" else "WARNING")
    except (RedisError, OSError):
        if not worker.is_stopping:
            raise
    finally:
        listening: Any = worker.pubsub_thread  # goes on by itself when RQ's end was not orderly
        if listening is not None:
            listening.stop()
    return worker.is_stopping


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)


def _kill_own_group() -> None:
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
