"""New projects, and editing those that exist."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, current_app, request

from app.api.web_routes import json_response
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.errors import ApiError, Conflict, Forbidden, PreconditionFailed
from app.http.etags import IfMatch
from app.pages.edit_conflicts import differences, version_of
from app.pages.projects.editor.boundary_text import check_boundary
from app.pages.projects.editor.draft import Draft, compared, draft_of, read_draft, sent_draft
from app.pages.projects.editor.example import EXAMPLE
from app.pages.recent_changes import last_change
from app.pages.record_fields import PROJECT_FIELDS
from app.policy.people import RECORD_FORM_BYTES
from app.projects.boundaries.overlaps import find_overlaps
from app.projects.boundary_history.comparing import compare_ahead
from app.projects.reading import read_project
from app.projects.service import create_project, update_project
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.protection import LargeForm, takes
from app.site.signed_in import is_from_script, of_account
from app.values.ids import is_id
from app.values.strict_json import Fragment

bp = PageBlueprint("project_editor", __name__, section="/projects")

_FORM: Final = LargeForm(RECORD_FORM_BYTES, "geometry", "max_body_bytes")
_ONE: Final = "/projects/<project_id>/edit"
_FIELDS: Final = {"slug": "name", "external_id": "external_id"}  # of a conflict, in the form


@bp.get("/projects/new")
@of_account("projects:write")
def new_project(principal: Principal) -> Response:
    """Draw a new project, or begin with the example."""
    draft = EXAMPLE if request.args.get("from") == "example" else Draft()
    return _editor(principal, draft)


@bp.post("/projects/new")
@takes(_FORM)
@of_account("projects:write")
def create(principal: Principal) -> Response:
    """Create a project from the form."""
    draft = sent_draft(request.form)
    values = read_draft(draft, None)
    if draft.errors:
        return _editor(principal, draft, status=422)
    try:
        with transaction():
            made = create_project(principal, **values)
    except (Conflict, Forbidden) as error:
        return _rejected(principal, draft, error)
    return redirect_to(f"/projects/{made['id']}?saved", f"{made['name']} created.")


@bp.get(_ONE)
@of_account("projects:write")
def edit_project(principal: Principal, project_id: str) -> Response:
    """Edit a project."""
    record = read_project(principal.account_id, project_id)
    return _editor(principal, draft_of(record), record)


@bp.post(_ONE)
@takes(_FORM)
@of_account("projects:write")
def save(principal: Principal, project_id: str) -> Response:
    """Save a project, unless somebody else has changed it since the form was loaded."""
    record = read_project(principal.account_id, project_id)
    draft = sent_draft(request.form)
    values = read_draft(draft, record)
    if draft.errors:
        return _editor(principal, draft, record, status=422)
    boundary = values["geometry"]
    ahead = compare_ahead(principal.account_id, project_id, boundary) if boundary else None
    try:
        with transaction():
            update_project(
                principal, project_id, values, IfMatch(draft.version or None), compared=ahead
            )
    except PreconditionFailed:
        return _conflict(principal, draft, project_id)
    except (Conflict, Forbidden) as error:
        return _rejected(principal, draft, error, record)
    return redirect_to(f"/projects/{project_id}?saved", "Project saved.")


@bp.post("/projects/check")
@takes(_FORM)
@of_account("projects:read")
def check(principal: Principal) -> Response:
    """Check a boundary while it is drawn: area, problems and overlaps.

    The response has the geometry that a text holds, valid or not.
    """
    boundary, problems, geometry = check_boundary(request.form.get("geometry", ""))
    own = request.form.get("project_id", "")
    asked: dict[str, Any] = {"boundary": boundary, "overlaps": True, "seconds": 0.0}
    asked["project_id"] = own if is_id("project", own) else None
    found = find_overlaps(principal, asked)
    return json_response(
        {
            "area_hectares": None if boundary is None else boundary.area_m2 / 10_000,
            "geometry": geometry if boundary is None else Fragment(boundary.text),
            "problems": problems,
            "overlaps": [] if found is None else found.records,
            "complete": found is None or found.is_complete,
        }
    )


def _conflict(principal: Principal, draft: Draft, project_id: str) -> Response:
    """The form again, with what somebody else has saved meanwhile. Sent again, it overwrites."""
    theirs = read_project(principal.account_id, project_id)
    found = differences(compared(draft), compared(draft_of(theirs)))
    draft.version = version_of(theirs)
    who = last_change(principal.account_id, project_id)
    return _editor(principal, draft, theirs, status=412, differences=found, who=who)


def _rejected(
    principal: Principal, draft: Draft, error: ApiError, record: dict[str, Any] | None = None
) -> Response:
    for detail in error.details:
        draft.errors[_FIELDS.get(detail.field, "form")] = [detail.message]
    draft.errors = draft.errors or {"form": [error.message]}
    return _editor(principal, draft, record, status=409 if error.status == 409 else 422)


def _editor(
    principal: Principal,
    draft: Draft,
    record: dict[str, Any] | None = None,
    *,
    status: int = 200,
    **values: Any,
) -> Response:
    template = "project_editor/form.html" if is_from_script() else "project_editor/editor.html"
    return page(
        template,
        status,
        principal=principal,
        draft=draft,
        project=record,
        fields=PROJECT_FIELDS,
        tiles=current_app.config["SETTINGS"],
        **values,
    )
