"""/v1/projects/{project_id}/boundaries and /v1/geometry."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.query_schemas import PageQuerySchema
from app.api.schemas import page_of, single_of, whole_of
from app.auth.principal import Principal
from app.http.etags import IfMatch
from app.projects.boundaries import restoring
from app.projects.boundaries.overlaps import Overlaps, find_overlaps, overlaps_of_project
from app.projects.boundaries.schemas import (
    BoundarySchema,
    BoundaryWithGeometrySchema,
    GeometryCheckSchema,
    GeometryReportMetaSchema,
    GeometryReportSchema,
    OverlapSchema,
    OverlapsMetaSchema,
)
from app.projects.boundary_history.listing import check_entry, list_entries, read_entry
from app.projects.lookup import check_project
from app.projects.schemas import ProjectSchema

bp = ApiBlueprint("boundaries", "/v1", "Boundaries of projects: former ones, and checks.")
_ALL = "/projects/<project_id>/boundaries"
_ONE = f"{_ALL}/<boundary_id>"


@bp.operation(
    f"GET {_ALL}",
    needs="projects:read",
    precheck=check_project,
    query=PageQuerySchema,
    gives=(200, page_of(BoundarySchema)),
)
def list_boundaries(principal: Principal, values: dict[str, Any], project_id: str) -> Response:
    """List the boundaries that a project has had.

    The newest come first, without their geometry.
    """
    page, size = values["page"], values["per_page"]
    records, total = list_entries(principal.account_id, project_id, page, size)
    return envelope.page_response(records, total=total, number=page, size=size)


@bp.operation(
    f"GET {_ONE}", needs="projects:read", gives=(200, single_of(BoundaryWithGeometrySchema))
)
def read_boundary(principal: Principal, project_id: str, boundary_id: str) -> Response:
    """Read a boundary that a project has or has had."""
    return envelope.record_response(read_entry(principal.account_id, project_id, boundary_id))


@bp.operation(
    f"POST {_ONE}/restore",
    needs="projects:write",
    precheck=check_entry,
    prepare=restoring.read_boundary_to_restore,
    gives=(200, single_of(ProjectSchema)),
    conflicts=True,
    conditional=True,
)
def restore_boundary(
    principal: Principal,
    project_id: str,
    if_match: IfMatch,
    prepared: restoring.Former | None,
    **_: str,
) -> Response:
    """Restore a former boundary of a project.

    The response is the project. The former boundary becomes the present one, as a new entry. If it
    is the present one already, nothing changes. `If-Match` is compared with the project's tag.
    """
    return envelope.record_response(
        restoring.restore_boundary(principal, project_id, prepared, if_match)
    )


@bp.operation(
    "GET /projects/<project_id>/overlaps",
    needs="projects:read",
    precheck=check_project,
    gives=(200, whole_of(OverlapSchema, OverlapsMetaSchema)),
)
def list_overlaps(principal: Principal, project_id: str) -> Response:
    """List the projects that overlap with a project.

    Projects of the account whose area overlaps by 1 m² or more, without archived ones. The largest
    overlaps come first, at most 100.
    """
    overlaps = overlaps_of_project(principal, project_id)
    return envelope.complete_list(overlaps.records, complete=overlaps.is_complete)


@bp.operation(
    "POST /geometry/validate",
    needs="projects:read",
    of_some_projects=True,
    prepare=find_overlaps,
    takes=GeometryCheckSchema,
    gives=(200, single_of(GeometryReportSchema, GeometryReportMetaSchema)),
)
def validate_geometry(_: Principal, values: dict[str, Any], prepared: Overlaps | None) -> Response:
    """Check a geometry without storing it.

    Send the geometry as `geometry` in the body. The response lists every problem with its place.
    For a valid geometry it has the area and warnings and, with `overlaps`, the projects that
    overlap.
    """
    if prepared is None:
        return envelope.record_response(values["report"])
    report = values["report"] | {"overlaps": prepared.records}
    return envelope.record_response(report, complete=prepared.is_complete)
