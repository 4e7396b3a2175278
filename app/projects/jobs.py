"""The jobs that delete the rows of large deleted projects, and derive missing countries."""

from __future__ import annotations

import logging
import time
from typing import Final

from app.auth.tenant import select_of_all_accounts
from app.db.queries import CompiledQuery
from app.db.transactions import transaction
from app.jobs.registry import Job
from app.jobs.runs import JobRun
from app.models import Project
from app.projects.deletion import delete_in_steps

log = logging.getLogger(__name__)

_DELETED: Final = CompiledQuery(
    select_of_all_accounts(Project.account_id, Project.id)
    .where(Project.deleted_at.is_not(None))
    .order_by(Project.deleted_at)
)


def delete_projects() -> int:
    """Delete the rows of deleted projects, one project after the other. Returns their number.

    A project that cannot be deleted is logged and tried again by the next run, and does not hold up
    the others.
    """
    run, deleted = JobRun(), 0
    for project in _DELETED.all():
        try:
            if not run.commit_each(delete_in_steps(project.account_id, project.id)):
                break
        except Exception:
            log.exception("project %s could not be deleted", project.id)
        else:
            deleted += 1
    return deleted


def derive_countries() -> int:
    """Derive the countries of projects that lack them. Returns their number."""
    from app.projects.country_backlog import derive_some  # noqa: PLC0415 - commands need no geometry

    run, derived, is_done = JobRun(), 0, False
    while not is_done:
        began = time.monotonic()
        with transaction():
            number = derive_some()
        derived += number
        is_done = not number or run.pause(began)
    return derived


def _lack_countries() -> bool:
    from app.projects.country_backlog import is_due  # noqa: PLC0415 - as above

    return is_due()


JOBS: Final = (
    Job(delete_projects, every_seconds=15, is_due=lambda: _DELETED.first() is not None),
    Job(derive_countries, every_seconds=15, is_due=_lack_countries),
)
