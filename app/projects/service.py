"""The operations on projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.api.immutable import check_fixed
from app.api.uniqueness import UniqueField, naming_conflicts
from app.audit.entries import Changes, write_entry
from app.audit.targets import Target
from app.auth.guard import require_project
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.transactions import insert_row
from app.events.outbox import EventActor, emit_event
from app.geometry import Boundary
from app.http.errors import Conflict, Forbidden
from app.http.etags import ANY, IfMatch
from app.models import Project
from app.policy.fields import PROJECT
from app.policy.permissions import ROLES
from app.projects.boundary_history.comparing import BoundaryComparison
from app.projects.boundary_history.entries import Source, author_of
from app.projects.boundary_history.saving import (
    save_changed_boundary,
    save_first_boundary,
    stored_boundary,
)
from app.projects.deletion import contents_of, delete_project_rows
from app.projects.derived import (
    changes_of,
    first_values,
    geometry_columns,
    search_columns,
    stored_bytes,
)
from app.projects.lookup import lock_project
from app.projects.record import project_data, project_record, row_record
from app.usage.counters import ProjectContribution, count_project
from app.values import clock
from app.values.ids import new_id
from app.values.records import mapped_row, set_columns
from app.values.text import unreserved_slug

_SLUG: Final = UniqueField("slug", "project", Project, ("account_id", "slug"))
_EXTERNAL_ID: Final = UniqueField("external_id", "project", Project, ("account_id", "external_id"))


def create_project(
    principal: Principal,
    *,
    name: str,
    geometry: Boundary | None = None,
    source: Source | None = None,
    may_share_name: bool = False,
    **values: Any,
) -> dict[str, Any]:
    """Add an active project. Returns its record.

    Args:
        source: the source of the boundary; by default the usual one of the principal.
        may_share_name: the slug gets a number if it is taken.
        values: the values of other fields, by column.

    Raises:
        Conflict: another project of the account has the slug of this name, or this external id.
        Forbidden: the account would store more bytes than allowed, or the principal is limited to
            some projects.
    """
    require_project(principal, None)
    moment = clock.now()
    project_id = new_id("project")
    number = _free_number(principal.account_id, name) if may_share_name else 1
    row = {
        "id": project_id,
        "account_id": principal.account_id,
        "name": name,
        "slug": unreserved_slug(name, number) or f"project-{project_id[-8:]}",
        "status": "active",
        "created_at": moment,
        "updated_at": moment,
        **values,
        **search_columns(name, values.get("description"), values.get("external_id")),
        **geometry_columns(geometry),
    }
    row["stored_bytes"] = stored_bytes(row["geometry"], row.get("metadata_json"))
    with naming_conflicts((_SLUG, _EXTERNAL_ID), row):
        insert_row(Project, row)
    boundary = save_first_boundary(row, author_of(principal, source))
    created = row_record(*mapped_row(row, PROJECT))
    _publish_change("project.created", created, principal, first_values(created, boundary))
    counted = ProjectContribution("active", row["area_m2"], row["stored_bytes"])
    count_project(principal.account_id, None, counted, is_bounded=True)
    return created


def update_project(
    principal: Principal,
    project_id: str,
    values: dict[str, Any],
    if_match: IfMatch = ANY,
    *,
    source: Source | None = None,
    compared: BoundaryComparison | None = None,
    is_bounded: bool = True,
) -> Project:
    """Change the fields in ``values``; without a real change nothing happens.

    Args:
        source: the source of a boundary; by default the usual one of the principal.
        compared: the result of ``compare_boundaries``, from before the transaction.
        is_bounded: the account's history must have room for the change.

    Raises:
        NotFound: the account has no such project.
        PreconditionFailed: ``if_match`` does not hold.
        ValidationFailed: ``values`` has another id or slug.
        Conflict: another project of the account has this external id.
        Forbidden: the account would store more bytes than allowed, its history is full, or a
            principal who is limited to some projects would change the external id.
    """
    project = _lock_project(principal, project_id, if_match)
    before, boundary, counted = (
        project_record(project),
        stored_boundary(project),
        _project_contribution(project),
    )
    columns = check_fixed(values, id=project.id, slug=project.slug)
    if "geometry" in values:
        columns |= geometry_columns(values["geometry"])
    set_columns(project, columns)
    is_new = project.geometry != (boundary and boundary.text)
    changes = changes_of(before, project_record(project), is_new)
    if not changes:
        return project
    if "external_id" in changes:
        _check_sees_all(principal)
    searched = search_columns(project.name, project.description, project.external_id)
    set_columns(project, searched)
    project.stored_bytes = stored_bytes(project.geometry, project.metadata_json)
    project.updated_at = clock.now()
    written = {"account_id": project.account_id, "external_id": project.external_id}
    with naming_conflicts((_EXTERNAL_ID,), written):
        db.session.flush()
    saved = None
    if is_new:
        saved = save_changed_boundary(project, boundary, author_of(principal, source), compared)
    _publish_update(project_record(project), principal, changes, saved and saved.description)
    more = 0 if saved is None else saved.stored_bytes
    is_archived = changes.keys() == {"status"} and project.status == "archived"
    is_bounded = is_bounded and not is_archived  # archiving makes room
    count_project(
        project.account_id, counted, _project_contribution(project), more, is_bounded=is_bounded
    )
    return project


def archive_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> Project:
    """Archive an active or draft project. Raises Conflict if it is archived already."""
    project = _lock_project(principal, project_id, if_match)
    if project.status == "archived":
        raise Conflict("archived", "status", "The project is already archived.")
    return _change_status(project, "archived", "project.archived", principal)


def restore_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> Project:
    """Make an archived project active again.

    Raises:
        Conflict: it is not archived.
        Forbidden: the account's history is full.
    """
    project = _lock_project(principal, project_id, if_match)
    if project.status != "archived":
        raise Conflict(
            "not_archived",
            "status",
            f"Only archived projects can be restored. This one is {project.status}.",
        )
    return _change_status(project, "active", "project.restored", principal)


def delete_project(principal: Principal, project_id: str, if_match: IfMatch = ANY) -> None:
    """Delete an archived project with its contents.

    Raises:
        Forbidden: an application would delete it for a person who is no admin.
        Conflict: it is not archived.
    """
    if principal.kind == "oauth" and "admin" not in ROLES[principal.role]:
        raise Forbidden(
            "role",
            f"The person that this application acts for has the role {principal.role}, and only "
            "admins and owners can delete a project. Archive it instead.",
        )
    project = _lock_project(principal, project_id, if_match)
    if project.status != "archived":
        raise Conflict(
            "not_archived",
            "status",
            f"Only archived projects can be deleted. This one is {project.status}. "
            "Archive it first.",
        )
    remove_project(principal, project)


def remove_project(principal: Principal, project: Project) -> None:
    """Delete a locked project with its assets, whatever its status."""
    _publish_change("project.deleted", project_record(project), principal)
    contents = contents_of(project)
    count_project(project.account_id, _project_contribution(project), None, -contents.stored_bytes)
    delete_project_rows(project, contents)


def _free_number(account_id: str, name: str) -> int:
    """A number with which the slug of a name is free, found by bisection: among a thousand projects
    with this name, by 20 look-ups."""

    def is_taken(number: int) -> bool:
        slug = unreserved_slug(name, number)
        return _SLUG.holder({"account_id": account_id, "slug": slug}) is not None

    low, high = 0, 1
    while is_taken(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_taken(middle) else (low, middle)
    return high


def _lock_project(principal: Principal, project_id: str, if_match: IfMatch) -> Project:
    project = lock_project(principal.account_id, project_id)
    if_match.check(project_data(project))
    return project


def _change_status(project: Project, status: str, event_type: str, principal: Principal) -> Project:
    counted, former = _project_contribution(project), project.status
    project.status = status
    project.updated_at = clock.now()
    changes = {"status": {"from": former, "to": status}}
    _publish_change(event_type, project_record(project), principal, changes)
    is_bounded = status != "archived"
    count_project(
        project.account_id, counted, _project_contribution(project), is_bounded=is_bounded
    )
    return project


def _check_sees_all(principal: Principal) -> None:
    """Raise Forbidden for a principal who is limited to some projects: an external id that is taken
    would reveal another one."""
    if principal.project_ids is not None:
        message = (
            "External ids are unique within the account, and this credential is limited to some "
            "projects. Use one that is not limited."
        )
        raise Forbidden("limited_to_projects", message)


def _project_contribution(project: Project) -> ProjectContribution:
    return ProjectContribution(project.status, project.area_m2, project.stored_bytes)


def _publish_change(
    event_type: str,
    project: Mapping[str, Any],
    principal: Principal,
    changes: Changes | None = None,
) -> None:
    """Write an event, and an entry of the same name.

    Args:
        project: the record.
        changes: the changes in the entry.
    """
    emit_event(event_type, project, EventActor.of(principal))
    _log_project_change(event_type, project, principal, changes)


def _publish_update(
    project: Mapping[str, Any],
    principal: Principal,
    changes: Mapping[str, Any],
    boundary: Mapping[str, Any] | None,
) -> None:
    """Write the event of changed fields, and an entry, with another action for a changed boundary.

    Args:
        changes: the changes in the event.
        boundary: the description of a changed boundary in the entry
            (``app.projects.boundary_history.saving``).
    """
    emit_event("project.updated", project, EventActor.of(principal), changes=changes)
    if boundary is None:
        _log_project_change("project.updated", project, principal, changes)
    else:
        _log_project_change(
            "project.boundary.updated", project, principal, {**changes, "geometry": boundary}
        )


def _log_project_change(
    action: str, project: Mapping[str, Any], principal: Principal, changes: Changes | None
) -> None:
    target = Target("project", project["id"], project["name"])
    write_entry(
        action, target, account_id=principal.account_id, changes=changes, principal=principal
    )
