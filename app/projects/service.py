"""What can be done with projects."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam

from app.auth.principal import Principal
from app.auth.tenant import columns_of, find_locked
from app.core import clock
from app.core.errors import Conflict, NotFound
from app.core.etags import ANY, IfMatch
from app.core.geometry import Boundary
from app.core.ids import is_id, new_id
from app.core.reading import Prepared
from app.core.text import fold, searchable, slugify
from app.extensions import db
from app.models import Project
from app.outbox import Origin, emit
from app.projects.record import COLUMNS, project_data, project_record, row_record
from app.usage.service import count_project

_ONE = Prepared(columns_of(Project, *COLUMNS).where(Project.id == bindparam("project_id")))
_EXISTS = Prepared(columns_of(Project, Project.id).where(Project.id == bindparam("project_id")))


def check_project(account_id: str, project_id: str, **_: str) -> None:
    """Raises NotFound when the account has no such project."""
    if not is_id("project", project_id):
        raise _absent()
    if _EXISTS.first(account_id=account_id, project_id=project_id) is None:
        raise _absent()


def read_project(account_id: str, project_id: str) -> dict[str, Any]:
    """The record of a project. Raises NotFound."""
    if not is_id("project", project_id):
        raise _absent()
    row = _ONE.first(account_id=account_id, project_id=project_id)
    if row is None:
        raise _absent()
    return row_record(row)


def lock_project(account_id: str, project_id: str) -> Project:
    """The project, kept from being deleted until the end of the transaction. Raises NotFound."""
    project = find_locked(account_id, Project, project_id) if is_id("project", project_id) else None
    if project is None:
        raise _absent()
    return project


def create_project(
    principal: Principal,
    *,
    name: str,
    description: str | None = None,
    geometry: Boundary | None = None,
) -> Project:
    """A new, active project.

    Raises:
        sqlalchemy.exc.IntegrityError: another project of the account has the slug of this name.
    """
    moment = clock.now()
    project_id = new_id("project")
    project = Project(
        id=project_id,
        account_id=principal.account_id,
        name=name,
        slug=slugify(name) or f"project-{project_id[-8:]}",
        description=description,
        status="active",
        created_at=moment,
        updated_at=moment,
    )
    _index_text(project)
    _place(project, geometry)
    db.session.add(project)
    db.session.flush()
    count_project(project.account_id, project.status, project.area_m2, 1)
    _emit("project.created", project, principal)
    return project


def update_project(
    principal: Principal, project_id: str, values: dict[str, Any], if_match: IfMatch = ANY
) -> Project:
    """Change the fields that ``values`` holds; without a real change nothing happens.

    Raises:
        NotFound: the account has no such project.
        PreconditionFailed: ``if_match`` does not hold.
    """
    project = _find(principal, project_id, if_match)
    before, boundary = project_record(project), project.geometry
    counted = project.status, project.area_m2
    for name in values.keys() & {"name", "description", "status"}:
        setattr(project, name, values[name])
    if "geometry" in values:
        _place(project, values["geometry"])
    changes = _changes(before, project_record(project), project.geometry != boundary)
    if not changes:
        return project
    _index_text(project)
    project.updated_at = clock.now()
    if counted != (project.status, project.area_m2):
        count_project(project.account_id, *counted, -1)
        count_project(project.account_id, project.status, project.area_m2, 1)
    _emit("project.updated", project, principal, changes=changes)
    return project


def archive_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> Project:
    """Archive an active or draft project. Raises Conflict when it is archived already."""
    project = _find(principal, project_id, if_match)
    if project.status == "archived":
        raise Conflict("The project is archived already.")
    return _move(project, "archived", "project.archived", principal)


def restore_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> Project:
    """Make an archived project active again. Raises Conflict when it is not archived."""
    project = _find(principal, project_id, if_match)
    if project.status != "archived":
        raise Conflict(f"Only an archived project can be restored; this one is {project.status}.")
    return _move(project, "active", "project.restored", principal)


def delete_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> None:
    """Delete an archived project with its assets. Raises Conflict when it is not archived."""
    project = _find(principal, project_id, if_match)
    if project.status != "archived":
        raise Conflict(
            f"Only an archived project can be deleted; this one is {project.status}. "
            "Archive it first."
        )
    count_project(project.account_id, project.status, project.area_m2, -1)
    _emit("project.deleted", project, principal)
    db.session.delete(project)


def _absent() -> NotFound:
    return NotFound("There is no such project.")


def _find(principal: Principal, project_id: str, if_match: IfMatch) -> Project:
    project = lock_project(principal.account_id, project_id)
    if_match.check(project_data(project))
    return project


def _move(project: Project, status: str, event_type: str, principal: Principal) -> Project:
    count_project(project.account_id, project.status, project.area_m2, -1)
    project.status = status
    project.updated_at = clock.now()
    count_project(project.account_id, project.status, project.area_m2, 1)
    _emit(event_type, project, principal)
    return project


def _place(project: Project, boundary: Boundary | None) -> None:
    """Set the boundary and what is derived from it."""
    project.geometry = None if boundary is None else boundary.text
    project.area_m2 = None if boundary is None else boundary.area_m2
    bounds = (None, None, None, None) if boundary is None else boundary.bounds
    project.west, project.south, project.east, project.north = bounds


def _index_text(project: Project) -> None:
    """Set what names are sorted by and what is searched."""
    project.name_key = fold(project.name)
    project.search_text = searchable(project.name, project.description)


def _changes(
    before: dict[str, Any], after: dict[str, Any], boundary_changed: bool
) -> dict[str, Any]:
    """What differs, as ``{field: {from, to}}``; of a boundary that it changed, and the areas."""
    changes: dict[str, Any] = {
        name: {"from": before[name], "to": after[name]}
        for name in ("name", "description", "status")
        if before[name] != after[name]
    }
    if boundary_changed:
        areas = {"from": before["area_hectares"], "to": after["area_hectares"]}
        changes["geometry"] = {"changed": True}
        changes["area_hectares"] = areas
    return changes


def _emit(event_type: str, project: Project, principal: Principal, **extra: Any) -> None:
    emit(event_type, project_record(project), Origin.of(principal), **extra)
