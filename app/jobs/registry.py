"""The jobs of the service: those that a queue may run, and those that run periodically.

Each package lists its jobs in ``jobs.py``, and ``app.core`` registers them. A queue holds names,
and whoever can write to it could name anything: only registered jobs are run.
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
    the scheduler sends the signal instead. A job without a signal has a ``queue``, and a
    ``timeout`` in seconds. ``is_due``: whether it has something to do; without it, it always has.
    """

    function: Callable[[], Any]
    every_seconds: int | None = None
    signal: WakeSignal | None = None
    queue: str = GENERAL
    timeout: int | None = None
    is_due: Callable[[], bool] | None = None

    @property
    def name(self) -> str:
        """Its name on a queue: ``send-mails`` for ``send_mails``."""
        return self.function.__name__.replace("_", "-")


_jobs: dict[str, Job] = {}  # by name


def register_jobs(jobs: Iterable[Job]) -> None:
    """Let this process put these jobs on queues and run them. Repeating it changes nothing."""
    for job in jobs:
        assert _jobs.setdefault(job.name, job) == job, f"two jobs are called {job.name}"
        if job.signal is not None:
            job.signal.job = job.name


def periodic_jobs() -> tuple[Job, ...]:
    """The jobs that the scheduler starts."""
    return tuple(job for job in _jobs.values() if job.every_seconds is not None)


def job_names() -> list[str]:
    """The names of all jobs."""
    return list(_jobs)


def known_name(name: str | None) -> str:
    """The name of a job, or ``other``: whoever can write to a queue could make up any number."""
    return name if name is not None and name in _jobs else "other"


class _Executions(ExecutionRegistry):
    """The executions of a job. One whose worker was killed stays listed for a minute after RQ has
    forgotten it; RQ would fail each job that ends meanwhile, although it did its work."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """All executions that are listed, by id alone."""
        return [
            Execution(each, self.job_id, self.connection)
            for each in self.get_execution_ids(start, end)
        ]


class RegisteredJob(RqJob):
    """A job as RQ's workers run it: a registered function, and no callbacks."""

    success_callback = None
    failure_callback = None
    stopped_callback = None

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)

    @property
    def func(self) -> Callable[[], Any]:
        """The function to run. Raises PermissionError for one that is not registered."""
        name = self.func_name or ""
        job = _jobs.get(name)
        if job is None:
            raise PermissionError(f"{name} is no job of this service.")
        return job.function
