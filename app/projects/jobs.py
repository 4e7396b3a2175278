"""The jobs that delete the rows of large deleted projects, and derive missing countries."""

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
    """Delete the rows of deleted projects, one project after the other. Returns their number.

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
    """Delete the rows of a project. Returns False if there was no time for all."""
    began = time.monotonic()
    with transaction():
        for _ in delete_in_steps(project.account_id, project.id):
            db.session.commit()
            if pause_after(began) or time.monotonic() > end:
                return False
            began = time.monotonic()
    return True


def derive_countries() -> int:
    """Derive the countries of projects that lack them. Returns their number."""
    from app.projects.country_backlog import derive_some  # noqa: PLC0415 - commands need no geometry

    end, derived, is_stopped = time.monotonic() + _RUN_SECONDS, 0, False
    while not is_stopped and time.monotonic() < end:
        began = time.monotonic()
        with transaction():
            number = derive_some()
        derived += number
        is_stopped = not number or pause_after(began)
    return derived


def _lack_countries() -> bool:
    from app.projects.country_backlog import is_due  # noqa: PLC0415 - as above

    return is_due()


JOBS: Final = (
    Job(delete_projects, every_seconds=15, is_due=lambda: _DELETED.first() is not None),
    Job(derive_countries, every_seconds=15, is_due=_lack_countries),
)
