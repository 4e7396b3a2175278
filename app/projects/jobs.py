"""The job that deletes the rows of projects that were deleted with very many of them."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from app.auth.tenant import select_of_all_accounts
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import transaction
from app.jobs.pauses import pause_after
from app.jobs.registry import Job
from app.models import Project
from app.projects.deletion import delete_in_steps

log = logging.getLogger(__name__)

_RUN_SECONDS: Final = 10.0  # mails and all other jobs wait for it
_DELETED: Final = CompiledQuery(
    select_of_all_accounts(Project.account_id, Project.id)
    .where(Project.deleted_at.is_not(None))
    .order_by(Project.deleted_at)
)


def delete_projects() -> int:
    """Delete the rows of deleted projects, one project after the other. Returns the number of
    projects that are gone.

    Stops after ``_RUN_SECONDS`` or when the worker is asked to stop; the next run continues. A
    project that cannot be deleted is logged and tried again, and does not hold up the others.
    """
    end, deleted = time.monotonic() + _RUN_SECONDS, 0
    for project in _DELETED.all():
        try:
            if not _delete(project, end):
                break
        except Exception:  # the others go on; this one is tried again by the next run
            log.exception("project %s could not be deleted", project.id)
        else:
            deleted += 1
    return deleted


def _delete(project: Any, end: float) -> bool:
    """Delete the rows of a project. Returns False if there was no time for all of it."""
    began = time.monotonic()
    with transaction():
        for _ in delete_in_steps(project.account_id, project.id):
            db.session.commit()
            if pause_after(began) or time.monotonic() > end:
                return False
            began = time.monotonic()
    return True


JOBS: Final = (Job(delete_projects, every_seconds=15, is_due=lambda: _DELETED.first() is not None),)
