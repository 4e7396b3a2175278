"""The jobs of the service.

Each package lists its jobs in ``jobs.py``, and ``app.core`` registers them. Only registered jobs
are run, as whoever can write to a queue could name any function.
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
    """A function without arguments that the worker runs."""

    function: Callable[[], Any]
    every_seconds: int | None = None  # interval at which the scheduler starts it
    signal: WakeSignal | None = None  # starts it at once; the scheduler sends it, too
    queue: str = GENERAL  # without a signal
    timeout: int | None = None  # seconds, without a signal
    is_due: Callable[[], bool] | None = None  # True if there is something to do; None: always

    @property
    def name(self) -> str:
        """The name in a queue: ``send-mails`` for ``send_mails``."""
        return self.function.__name__.replace("_", "-")


_jobs: dict[str, Job] = {}  # by name


def register_jobs(jobs: Iterable[Job]) -> None:
    """Let this process queue and run these jobs. Repeating it changes nothing."""
    for job in jobs:
        assert _jobs.setdefault(job.name, job) == job, f"two jobs are called {job.name}"
        if job.signal is not None:
            job.signal.job = job.name


def periodic_jobs() -> tuple[Job, ...]:
    """Return the jobs that the scheduler starts."""
    return tuple(job for job in _jobs.values() if job.every_seconds is not None)


def job_names() -> list[str]:
    """Return the names of all jobs."""
    return list(_jobs)


def known_name(name: str | None) -> str:
    """Return the name of a registered job, or ``other``, so that made-up names in a queue do not
    become metrics."""
    return name if name is not None and name in _jobs else "other"


class _Executions(ExecutionRegistry):
    """The executions of a job. That of a killed worker stays listed for a minute after RQ has
    deleted it; RQ would then fail each job that ends meanwhile, although it did its work."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """Return the listed executions by their ids, without fetching them."""
        ids = self.get_execution_ids(start, end)
        return [Execution(id_, self.job_id, self.connection) for id_ in ids]


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
        """The function to run. Raises PermissionError if it is not registered."""
        name = self.func_name or ""
        job = _jobs.get(name)
        if job is None:
            raise PermissionError(f"{name} is no job of this service.")
        return job.function
