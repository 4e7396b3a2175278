"""Creating and editing projects."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request

from app.api.web_routes import json_response
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.geometry import middle_of
from app.http.errors import PreconditionFailed
from app.http.etags import IfMatch
from app.imports.feature_map import shape_of_feature
from app.pages.projects.editor.boundary_text import check_boundary
from app.pages.projects.editor.forms import EXAMPLE, ProjectDraft
from app.pages.projects.editor.unexpected_place import place_question
from app.pages.where import where_it_lies
from app.policy.forms import RECORD_FORM_BYTES
from app.projects.boundaries.overlaps import find_overlaps
from app.projects.lookup import compare_boundaries, read_project
from app.projects.service import create_project, update_project
from app.site.forms import form_page
from app.site.pages import PageBlueprint, redirect_to
from app.site.protection import FormLimits, with_form_limits
from app.site.signed_in import is_from_script, of_account
from app.values.ids import is_id
from app.values.strict_json import Fragment

bp = PageBlueprint("project_editor", __name__, section="/projects")

_LIMITS: Final = FormLimits(RECORD_FORM_BYTES, "geometry", "max_body_bytes")
_ONE: Final = "/projects/<project_id>/edit"
_NAMES: Final = {"slug": "name"}  # fields of the service, and of the form


@bp.get("/projects/new", of_account("projects:write"))
def new_project(principal: Principal) -> Response:
    """Draw a new project, or start from the example or from a feature of an import."""
    draft = EXAMPLE if request.args.get("from") == "example" else ProjectDraft()
    if import_id := request.args.get("import"):
        number = request.args.get("feature", 0, int)
        name, geometry = shape_of_feature(principal, import_id, number)
        draft = ProjectDraft({"name": name, "geometry": geometry})
    return _editor_page(principal, draft)


@bp.post("/projects/new", of_account("projects:write"))
@with_form_limits(_LIMITS)
def create(principal: Principal) -> Response:
    """Create a project from the form."""
    draft = ProjectDraft.sent(request.form)
    draft.read()
    if not draft.values:
        return _editor_page(principal, draft)
    with draft.refusals(_NAMES), transaction():
        record = create_project(principal, may_share_name=True, **draft.values)
    if draft.has_problem:
        return _editor_page(principal, draft)
    return redirect_to(f"/projects/{record['id']}?saved", f"{record['name']} created.")


@bp.get(_ONE, of_account("projects:write"))
def edit_project(principal: Principal, project_id: str) -> Response:
    """Edit a project."""
    record = read_project(principal.account_id, project_id)
    return _editor_page(principal, ProjectDraft.of(record), record)


@bp.post(_ONE, of_account("projects:write"))
@with_form_limits(_LIMITS)
def save(principal: Principal, project_id: str) -> Response:
    """Save a project, unless somebody else has changed it since the form was loaded."""
    record = read_project(principal.account_id, project_id)
    draft = ProjectDraft.sent(request.form)
    draft.read(record)
    if not draft.values:
        return _editor_page(principal, draft, record)
    compared = compare_boundaries(principal, draft.values, project_id)
    is_unchanged = IfMatch(draft.version or None)
    with draft.refusals(_NAMES), transaction():
        update_project(principal, project_id, draft.values, is_unchanged, compared=compared)
    if isinstance(draft.rejection, PreconditionFailed):
        record = read_project(principal.account_id, project_id)
        draft.compare(principal.account_id, record)
    if draft.has_problem:
        return _editor_page(principal, draft, record)
    return redirect_to(f"/projects/{project_id}?saved", "Project saved.")


@bp.post("/projects/check", of_account("projects:read"))
@with_form_limits(_LIMITS)
def check(principal: Principal) -> Response:
    """Check a boundary while it is drawn: area, problems, warnings, overlaps, and where it lies.

    The response has the geometry of the text, also if it is invalid.
    """
    boundary, problems, geometry, warnings = check_boundary(request.form.get("geometry", ""))
    project_id = request.form.get("project_id", "")
    query: dict[str, Any] = {"boundary": boundary, "overlaps": True, "seconds": 0.0}
    query["project_id"] = project_id if is_id("project", project_id) else None
    overlaps = find_overlaps(principal, query)
    where = question = None
    if boundary is not None:
        place = middle_of(boundary.rings)
        where = where_it_lies(*place, boundary.country)
        question = place_question(principal.account_id, boundary, place)
    return json_response(
        {
            "where": where,
            "question": question,
            "area_hectares": None if boundary is None else boundary.area_m2 / 10_000,
            "geometry": geometry if boundary is None else Fragment(boundary.text),
            "problems": problems,
            "warnings": warnings,
            "overlaps": [] if overlaps is None else overlaps.records,
            "complete": overlaps is None or overlaps.is_complete,
        }
    )


def _editor_page(
    principal: Principal, draft: ProjectDraft, record: dict[str, Any] | None = None
) -> Response:
    template = "project_editor/form.html" if is_from_script() else "project_editor/editor.html"
    status = 422 if draft.status == 403 else draft.status  # the script of the page shows no 403
    return form_page(template, draft, status, principal=principal, project=record)
