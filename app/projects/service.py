"""The operations on projects."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func

from app.api.fixed_fields import check_fixed
from app.auth.principal import Principal
from app.auth.tenant import columns_of, find_locked
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import insert_row
from app.geometry import Boundary
from app.http.errors import Conflict
from app.http.etags import ANY, IfMatch
from app.models import Asset, Project
from app.outbox import Actor, emit
from app.policy.fields import PROJECT
from app.projects.conflicts import naming_conflicts
from app.projects.derived import changes_of, geometry_columns, search_columns
from app.projects.derived import stored_bytes as stored_bytes
from app.projects.listing import list_projects as list_projects  # these for other packages
from app.projects.listing import project_query as project_query
from app.projects.record import COLUMNS, not_found, project_data, project_record, row_record
from app.projects.summaries import summarize_project as summarize_project
from app.projects.summaries import summarize_projects as summarize_projects
from app.usage.service import ProjectContribution, count_bytes, count_project
from app.values import clock
from app.values.ids import is_id, new_id
from app.values.records import mapped_row, set_columns
from app.values.text import slugify

_ONE = CompiledQuery(columns_of(Project, *COLUMNS).where(Project.id == bindparam("project_id")))
_FOUND = columns_of(Project, Project.id).where(Project.id == bindparam("project_id"))
_EXISTS = CompiledQuery(_FOUND)

_ASSET_BYTES = (
    columns_of(Asset)
    .add_columns(func.coalesce(func.sum(byte_length(Asset.metadata_json)), 0))
    .where(Asset.project_id == bindparam("project_id"))
)


def check_project(account_id: str, project_id: str, **_: str) -> None:
    """Raises NotFound when the account has no such project."""
    known = is_id("project", project_id)
    if not known or _EXISTS.first(account_id=account_id, project_id=project_id) is None:
        raise not_found()


def read_project(account_id: str, project_id: str) -> dict[str, Any]:
    """The record of a project. Raises NotFound."""
    known = is_id("project", project_id)
    rows = _ONE.tuples(account_id=account_id, project_id=project_id) if known else []
    if not rows:
        raise not_found()
    return row_record(*rows[0])


def lock_project(account_id: str, project_id: str) -> Project:
    """The project, kept from being deleted until the end of the transaction. Raises NotFound."""
    project = find_locked(account_id, Project, project_id) if is_id("project", project_id) else None
    if project is None:
        raise not_found()
    return project


def create_project(
    principal: Principal, *, name: str, geometry: Boundary | None = None, **values: Any
) -> dict[str, Any]:
    """Add an active project. Returns its record.

    Args:
        values: of other fields that a new project can have, by their columns.

    Raises:
        Conflict: another project of the account has the slug of this name, or this external id.
        Forbidden: the account would store more bytes than it may.
    """
    moment = clock.now()
    project_id = new_id("project")
    row = {
        "id": project_id,
        "account_id": principal.account_id,
        "name": name,
        "slug": slugify(name) or f"project-{project_id[-8:]}",
        "status": "active",
        "created_at": moment,
        "updated_at": moment,
        **values,
        **search_columns(name, values.get("description")),
        **geometry_columns(geometry),
    }
    row["stored_bytes"] = stored_bytes(row["geometry"], row.get("metadata_json"))
    with naming_conflicts(row):
        insert_row(Project, row)
    record = row_record(*mapped_row(row, PROJECT))
    emit("project.created", record, Actor.of(principal))
    counted = ProjectContribution("active", row["area_m2"], row["stored_bytes"])
    count_project(principal.account_id, None, counted)
    return record


def update_project(
    principal: Principal, project_id: str, values: dict[str, Any], if_match: IfMatch = ANY
) -> Project:
    """Change the fields that ``values`` holds; without a real change nothing happens.

    Raises:
        NotFound: the account has no such project.
        PreconditionFailed: ``if_match`` does not hold.
        ValidationFailed: ``values`` has another id or slug.
        Conflict: another project of the account has this external id.
        Forbidden: the account would store more bytes than it may.
    """
    project = _find(principal, project_id, if_match)
    before, boundary = project_record(project), project.geometry
    counted = _counted(project)
    columns = check_fixed(values, id=project.id, slug=project.slug)
    if "geometry" in values:
        columns |= geometry_columns(values["geometry"])
    set_columns(project, columns)
    changes = changes_of(before, project_record(project), project.geometry != boundary)
    if not changes:
        return project
    set_columns(project, search_columns(project.name, project.description))
    project.stored_bytes = stored_bytes(project.geometry, project.metadata_json)
    project.updated_at = clock.now()
    with naming_conflicts({"account_id": project.account_id, "external_id": project.external_id}):
        db.session.flush()
    _emit("project.updated", project, principal, changes=changes)
    count_project(project.account_id, counted, _counted(project))
    return project


def archive_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> Project:
    """Archive an active or draft project. Raises Conflict when it is archived already."""
    project = _find(principal, project_id, if_match)
    if project.status == "archived":
        raise Conflict("The project is already archived.")
    return _move(project, "archived", "project.archived", principal)


def restore_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> Project:
    """Make an archived project active again. Raises Conflict when it is not archived."""
    project = _find(principal, project_id, if_match)
    if project.status != "archived":
        raise Conflict(f"Only archived projects can be restored. This one is {project.status}.")
    return _move(project, "active", "project.restored", principal)


def delete_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> None:
    """Delete an archived project with its assets. Raises Conflict when it is not archived."""
    project = _find(principal, project_id, if_match)
    if project.status != "archived":
        raise Conflict(
            f"Only archived projects can be deleted. This one is {project.status}. "
            "Archive it first."
        )
    remove_project(principal, project)


def remove_project(principal: Principal, project: Project) -> None:
    """Delete a locked project with its assets, whatever its status."""
    _emit("project.deleted", project, principal)
    count_project(project.account_id, _counted(project), None)
    count_bytes(project.account_id, -_bytes_of_assets(project))
    db.session.delete(project)


def _find(principal: Principal, project_id: str, if_match: IfMatch) -> Project:
    project = lock_project(principal.account_id, project_id)
    if_match.check(project_data(project))
    return project


def _move(project: Project, status: str, event_type: str, principal: Principal) -> Project:
    counted = _counted(project)
    project.status = status
    project.updated_at = clock.now()
    _emit(event_type, project, principal)
    count_project(project.account_id, counted, _counted(project))
    return project


def _counted(project: Project) -> ProjectContribution:
    return ProjectContribution(project.status, project.area_m2, project.stored_bytes)


def _bytes_of_assets(project: Project) -> int:
    """The stored bytes of the project's assets, which are deleted with it."""
    values = {"account_id": project.account_id, "project_id": project.id}
    return int(db.session.execute(_ASSET_BYTES, values).scalar_one())


def _emit(event_type: str, project: Project, principal: Principal, **extra: Any) -> None:
    emit(event_type, project_record(project), Actor.of(principal), **extra)
