"""The jobs of the service: what a queue may run, and what is run again and again.

Each package lists its own in its ``jobs.py``, and ``create_app`` registers them. A queue holds
names of functions, and whoever can write to it could name any: a function that is not registered is
not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rq.executions import Execution, ExecutionRegistry
from rq.job import Job as RqJob

from app.jobs.queue import GENERAL
from app.jobs.wake_signals import WakeSignal


@dataclass(frozen=True, slots=True)
class Job:
    """A function without arguments that the worker runs.

    ``every_seconds``: how often the scheduler starts it. ``signal``: what starts it at once; then
    the scheduler sends the signal instead. A job without a signal has a ``queue``,
    and a ``timeout`` in seconds.
    """

    function: Callable[[], Any]
    every_seconds: int | None = None
    signal: WakeSignal | None = None
    queue: str = GENERAL
    timeout: int | None = None

    @property
    def name(self) -> str:
        """``send-mails`` for ``send_mails``."""
        return self.function.__name__.replace("_", "-")

    @property
    def path(self) -> str:
        """The dotted path by which a queue names it."""
        return f"{self.function.__module__}.{self.function.__name__}"


_jobs: dict[str, Job] = {}  # by path


def register(jobs: Iterable[Job]) -> None:
    """Let this process put these jobs on queues and run them. To repeat it changes nothing."""
    for job in jobs:
        _jobs[job.path] = job
        if job.signal is not None:
            job.signal.job = job.path


def periodic_jobs() -> tuple[Job, ...]:
    """The jobs that the scheduler starts."""
    return tuple(job for job in _jobs.values() if job.every_seconds is not None)


class _Executions(ExecutionRegistry):
    """The executions of a job. That of a worker that was killed stays listed for a minute after RQ
    has forgotten it, and RQ would fail each job that ends meanwhile, though it did its work."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """All that are listed, by their ids alone."""
        return [
            Execution(each, self.job_id, self.connection)
            for each in self.get_execution_ids(start, end)
        ]


class RegisteredJob(RqJob):
    """What RQ's workers run: a function that is registered, and no callbacks."""

    success_callback = None
    failure_callback = None
    stopped_callback = None

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)

    def perform(self) -> Any:
        """Run it. Raises PermissionError for a function that is no job of the service."""
        if self.func_name not in _jobs:
            raise PermissionError(f"{self.func_name} is no job of this service.")
        return super().perform()
