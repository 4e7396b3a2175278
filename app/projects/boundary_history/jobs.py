"""The job that simplifies boundaries for maps. Maps simplify the others when they are read."""

from __future__ import annotations

import time
from typing import Final

from app.db.queries import has_rows
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.runs import JobRun


def simplify_boundaries() -> int:
    """Make the missing shapes. Returns the number of boundaries."""
    from app.projects.boundary_history.shape_backlog import ShapeBacklog  # noqa: PLC0415 - commands need no geometry

    run, simplified, backlog = JobRun(), 0, ShapeBacklog()
    while batch := backlog.read():
        began = time.monotonic()
        with transaction():
            simplified += backlog.write(batch)
        if run.pause(began):
            break
    return simplified


def _has_waiting() -> bool:
    from app.projects.boundary_history.shape_backlog import WAITING  # noqa: PLC0415 - as above

    return has_rows(WAITING)


JOBS: Final = (Job(simplify_boundaries, every_seconds=15, is_due=_has_waiting),)
