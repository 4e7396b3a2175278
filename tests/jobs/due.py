"""Running a job as the scheduler does."""

from __future__ import annotations

from collections.abc import Callable

from app.core import JOBS


def is_due(function: Callable[[], int]) -> bool:
    """Whether the scheduler would start a job. Needs an app context."""
    (job,) = (job for job in JOBS if job.function is function)
    assert job.is_due is not None
    return job.is_due()


def run_if_due(function: Callable[[], int]) -> int:
    """Run a job. What it does is in vain unless it said before that it is due."""
    was_due, done = is_due(function), function()
    assert was_due or not done, "the scheduler would not have started it"
    return done
