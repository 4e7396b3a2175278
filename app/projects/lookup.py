"""Reading one project, and comparing its boundary with that of an update."""

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
    """Raises NotFound when there is no such project for the principal."""
    is_seen = principal.sees(project_id)
    if not is_seen or project_name(principal.account_id, project_id) is None:
        raise not_found()


def project_name(account_id: str, project_id: str) -> str | None:
    """The name of a project; None where the account has no such project."""
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
    """Keep a project from being changed and deleted until the end of the transaction; others may
    hold it too. Whoever changes an asset holds its project first: a deletion counts the assets that
    go with it. Raises NotFound."""
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
    """A value that differs after each change of an account's projects, or of their simplified
    boundaries. Changes with SQL count once they are reported."""
    return VERSION, account_id, read_counters(account_id).map_version


def compare_boundaries(
    principal: Principal, values: Mapping[str, Any], project_id: str
) -> BoundaryComparison | None:
    """Compare a project's boundary with that of an update, before its transaction. None: it stays,
    or the project has none.

    Raises:
        ServiceUnavailable: it is large, and too many others are before this request.
    """
    boundary = values.get("geometry")
    return compare_ahead(principal.account_id, project_id, boundary) if boundary else None
