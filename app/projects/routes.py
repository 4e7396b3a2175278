"""/v1/projects."""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.merge_patch import merge_metadata
from app.api.schemas import page_of, single_of
from app.auth.principal import Principal
from app.formats.writers.features import PROJECTS
from app.http.etags import IfMatch
from app.projects import listing, lookup, service
from app.projects.boundary_history.comparing import BoundaryComparison
from app.projects.lookup import compare_boundaries
from app.projects.record import project_record
from app.projects.schemas import (
    ProjectCreateSchema,
    ProjectQuerySchema,
    ProjectSchema,
    ProjectUpdateSchema,
)

bp = ApiBlueprint("projects", "/v1", "Forest areas with their boundaries.")
_ONE = "/projects/<project_id>"
_PROJECT = (200, single_of(ProjectSchema))


@bp.operation(
    "GET /projects",
    needs="projects:read",
    of_some_projects=True,
    query=ProjectQuerySchema,
    gives=(200, page_of(ProjectSchema, some_fields=True)),
    features=PROJECTS,
)
def list_projects(principal: Principal, values: dict[str, Any]) -> Response:
    """List projects.

    Archived projects are included; `status=active` leaves them out. Boundaries can be
    large: name the fields that you need in `fields`.
    """
    query = listing.project_query(**values, within=principal.project_ids)
    records, total = listing.list_projects(principal.account_id, query)
    return envelope.page_response(records, total=total, number=query.page, size=query.per_page)


@bp.operation(f"GET {_ONE}", needs="projects:read", gives=_PROJECT, features=PROJECTS)
def read_project(principal: Principal, project_id: str) -> Response:
    """Read a project."""
    return envelope.record_response(lookup.read_project(principal.account_id, project_id))


@bp.operation(
    "POST /projects",
    needs="projects:write",
    takes=ProjectCreateSchema,
    gives=(201, single_of(ProjectSchema)),
    conflicts=True,
)
def create_project(principal: Principal, values: dict[str, Any]) -> Response:
    """Create a project.

    A new project is `active`. Its slug is derived from its name. If another project has the
    same slug or `external_id`, the response is 409 and names that project.
    """
    project = service.create_project(principal, **values)
    return envelope.record_response(project, status=201, location=f"/v1/projects/{project['id']}")


@bp.operation(
    f"PUT {_ONE}",
    needs="projects:write",
    precheck=lookup.check_project,
    prepare=compare_boundaries,
    takes=ProjectUpdateSchema,
    gives=_PROJECT,
    conditional=True,
)
def update_project(
    principal: Principal,
    values: dict[str, Any],
    project_id: str,
    if_match: IfMatch,
    prepared: BoundaryComparison | None,
) -> Response:
    """Update a project."""
    merge_metadata(values, partial(lookup.lock_project, principal.account_id, project_id))
    project = service.update_project(principal, project_id, values, if_match, compared=prepared)
    return envelope.record_response(project_record(project))


@bp.operation(
    f"DELETE {_ONE}",
    needs="projects:write",
    precheck=lookup.check_project,
    gives=(204, None),
    conflicts=True,
    conditional=True,
)
def delete_project(principal: Principal, project_id: str, if_match: IfMatch) -> Response:
    """Delete an archived project and its assets.

    An application can do so only for an admin or owner of the account.
    """
    service.delete_project(principal, project_id, if_match)
    return envelope.empty_response()


@bp.operation(
    f"POST {_ONE}/archive",
    needs="projects:write",
    precheck=lookup.check_project,
    gives=_PROJECT,
    conflicts=True,
    conditional=True,
)
def archive_project(principal: Principal, project_id: str, if_match: IfMatch) -> Response:
    """Archive a project."""
    return envelope.record_response(
        project_record(service.archive_project(principal, project_id, if_match))
    )


@bp.operation(
    f"POST {_ONE}/restore",
    needs="projects:write",
    precheck=lookup.check_project,
    gives=_PROJECT,
    conflicts=True,
    conditional=True,
)
def restore_project(principal: Principal, project_id: str, if_match: IfMatch) -> Response:
    """Restore an archived project."""
    return envelope.record_response(
        project_record(service.restore_project(principal, project_id, if_match))
    )
