"""Looking up one project, and comparing its boundary with an updated one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam

from app.auth.principal import Principal
from app.auth.tenant import columns_of, find_locked
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.models import Project
from app.projects.boundary_history.comparing import BoundaryComparison, compare_ahead
from app.projects.record import COLUMNS, not_found, row_record
from app.usage.counters import read_counters
from app.values.ids import is_id
from app.values.version import VERSION

_ONE = CompiledQuery(columns_of(Project, *COLUMNS).where(Project.id == bindparam("project_id")))
_NAME = CompiledQuery(
    columns_of(Project, Project.name).where(Project.id == bindparam("project_id"))
)
# Tests the row itself: a statement that waited for a lock sees only that row again.
_HOLD = (
    columns_of(Project, Project.id)
    .where(Project.id == bindparam("project_id"), Project.deleted_at.is_(None))
    .with_for_update(read=True, key_share=True)
)


def check_project(principal: Principal, project_id: str, **_: str) -> None:
    """Raise NotFound if the principal sees no such project."""
    if not principal.sees(project_id) or project_name(principal.account_id, project_id) is None:
        raise not_found()


def project_name(account_id: str, project_id: str) -> str | None:
    """The name of a project; None if the account has no such project."""
    if not is_id("project", project_id):
        return None
    row = _NAME.first(account_id=account_id, project_id=project_id)
    return None if row is None else str(row.name)


def lock_project(account_id: str, project_id: str) -> Project:
    """The project, locked until the end of the transaction. Raises NotFound."""
    project = find_locked(account_id, Project, project_id) if is_id("project", project_id) else None
    if project is None:
        raise not_found()
    return project


def hold_project(account_id: str, project_id: str) -> None:
    """Keep a project from being changed or deleted until the end of the transaction. Others may
    hold it too. Hold the project of an asset before changing it: a deletion counts the assets.

    Raises NotFound.
    """
    ids = {"account_id": account_id, "project_id": project_id}
    if not is_id("project", project_id) or db.session.connection().scalar(_HOLD, ids) is None:
        raise not_found()


def read_project(account_id: str, project_id: str) -> dict[str, Any]:
    """The record of a project. Raises NotFound."""
    if not is_id("project", project_id):
        raise not_found()
    rows = _ONE.tuples(account_id=account_id, project_id=project_id)
    if not rows:
        raise not_found()
    return row_record(*rows[0])


def version_of_projects(account_id: str) -> object:
    """A value that changes with the account's projects and their simplified boundaries. Changes
    with SQL count once they are reported."""
    return VERSION, account_id, read_counters(account_id).map_version


def compare_boundaries(
    principal: Principal, values: Mapping[str, Any], project_id: str
) -> BoundaryComparison | None:
    """Compare a project's boundary with an updated one, before the transaction. None if the
    update has none, or the project.

    Raises:
        ServiceUnavailable: it is large, and too many requests are waiting.
    """
    boundary = values.get("geometry")
    return compare_ahead(principal.account_id, project_id, boundary) if boundary else None
