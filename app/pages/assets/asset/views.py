"""The page of one asset, and the form that makes or edits it."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request
from werkzeug.datastructures import MultiDict

from app.assets.service import check_asset, create_asset, delete_asset, read_asset, update_asset
from app.assets.words import known_words
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.geometry import contains_point, stored_rings
from app.http.errors import BadRequest, PreconditionFailed
from app.http.etags import IfMatch
from app.pages.assets.asset.forms import AssetDraft, shown_keyword
from app.pages.editable_fields import ASSET_FIELDS, field_facts
from app.pages.metadata import linked_metadata
from app.pages.project_choice import ProjectChoice, choose_project
from app.pages.projects.project.details import asset_place, geometry_text
from app.pages.recent_changes import latest_changes
from app.policy.forms import RECORD_FORM_BYTES
from app.policy.request_limits import ASSET_STATUSES
from app.projects.lookup import project_name, read_project
from app.site.form_fields import ConfirmationSchema
from app.site.forms import form_page, sent_draft
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.protection import FormLimits, with_form_limits
from app.site.sent_forms import repeatable, saving_once
from app.site.signed_in import of_account
from app.usage.counters import project_total, read_counters

bp = PageBlueprint("asset_page", __name__, section="/assets")

_ONE: Final = "/assets/<project_id>/<asset_id>"


@bp.get("/assets/new", of_account("assets:write"))
def new_asset(principal: Principal) -> Response:
    """The form of a new asset. The address can fill in fields."""
    draft = AssetDraft.sent(request.args)
    draft.texts["status"] = draft.texts["status"] or "active"
    draft.project = _chosen_project(principal, request.args)
    return _asset_form_page(principal, draft)


@bp.post("/assets/new", of_account("assets:write"))
@with_form_limits(FormLimits(RECORD_FORM_BYTES))
@repeatable
def create(principal: Principal) -> Response:
    """Create an asset from the form."""
    draft = AssetDraft.sent(request.form)
    draft.project = _chosen_project(principal, request.form)
    draft.read()
    if not draft.project.id:
        draft.errors["project"] = [draft.project.problem or "Choose the project that it is in."]
    if not draft.values or draft.project.id is None:
        return _asset_form_page(principal, draft)
    with draft.refusals(), saving_once() as respond, transaction():
        record = create_asset(principal, draft.project.id, **draft.values)
        path, message = _asset_path(record), f"{record['name']} created."
        if request.form.get("then") == "another":
            query = urlencode({"project_id": record["project_id"], "type": record["type"]})
            path, message = f"/assets/new?{query}", f"{message} Add the next one."
        response = respond(path, message)
    return _asset_form_page(principal, draft) if draft.has_problem else response


@bp.get(_ONE, of_account("assets:read"))
def asset(principal: Principal, project_id: str, asset_id: str) -> Response:
    """An asset: its location, its fields, and who changed it."""
    record = read_asset(principal.account_id, project_id, asset_id)
    project = read_project(principal.account_id, project_id)
    return page(
        "asset/asset.html",
        principal=principal,
        asset=record,
        project=project,
        place=asset_place(record),
        is_outside=_is_outside(record, project),
        metadata=linked_metadata(record["metadata"], "/assets"),
        facts=field_facts(ASSET_FIELDS, record),
        changes=latest_changes(principal.account_id, asset_id),
        statuses=dict.fromkeys((*ASSET_STATUSES, record["status"])),
    )


@bp.get(f"{_ONE}/edit", of_account("assets:write"))
def edit_asset(principal: Principal, project_id: str, asset_id: str) -> Response:
    """Edit an asset."""
    record = read_asset(principal.account_id, project_id, asset_id)
    return _asset_form_page(principal, AssetDraft.of(record), record)


@bp.post(f"{_ONE}/edit", of_account("assets:write"))
@with_form_limits(FormLimits(RECORD_FORM_BYTES))
@repeatable
def save(principal: Principal, project_id: str, asset_id: str) -> Response:
    """Save an asset, unless somebody else has changed it since the form was loaded."""
    record = read_asset(principal.account_id, project_id, asset_id)
    draft = AssetDraft.sent(request.form)
    draft.read(record)
    if not draft.values:
        return _asset_form_page(principal, draft, record)
    is_unchanged = IfMatch(draft.version or None)
    with draft.refusals(), saving_once() as respond, transaction():
        update_asset(principal, project_id, asset_id, draft.values, is_unchanged)
        response = respond(_asset_path(record), "Asset saved.")
    if isinstance(draft.rejection, PreconditionFailed):
        record = read_asset(principal.account_id, project_id, asset_id)
        draft.compare(principal.account_id, record)
    return _asset_form_page(principal, draft, record) if draft.has_problem else response


@bp.post(f"{_ONE}/status", of_account("assets:write"))
def set_status(principal: Principal, project_id: str, asset_id: str) -> Response:
    """Change the status of an asset."""
    status = request.form.get("status", "")
    if status not in ASSET_STATUSES:
        raise BadRequest("Choose one of the statuses.")
    check_asset(principal, project_id, asset_id)
    with transaction():
        update_asset(principal, project_id, asset_id, {"status": status})
    return redirect_to(f"/assets/{project_id}/{asset_id}", f"The status is {status} now.")


@bp.post(f"{_ONE}/delete", of_account("admin"))
def delete(principal: Principal, project_id: str, asset_id: str) -> Response:
    """Delete an asset."""
    name = read_asset(principal.account_id, project_id, asset_id)["name"]
    if not sent_draft(ConfirmationSchema(name)).values:
        message = f"Nothing was deleted. To confirm, type the name: {name}"
        return redirect_to(f"/assets/{project_id}/{asset_id}", message)
    with transaction():
        delete_asset(principal, project_id, asset_id)
    return redirect_to(f"/assets?project_id={project_id}", f"{name} deleted.")


def _is_outside(asset: dict[str, Any], project: dict[str, Any]) -> bool:
    """True if the location of an asset is outside the boundary of its project."""
    place = asset_place(asset)
    if place is None or project["geometry"] is None:
        return False
    longitude, latitude = place["place"]
    return not contains_point(stored_rings(geometry_text(project["geometry"])), longitude, latitude)


def _chosen_project(principal: Principal, fields: MultiDict[str, str]) -> ProjectChoice:
    return choose_project(principal.account_id, fields.get("project_id", ""), fields.get("project"))


def _asset_path(record: dict[str, Any]) -> str:
    return f"/assets/{record['project_id']}/{record['id']}"


def _asset_form_page(
    principal: Principal, draft: AssetDraft, record: dict[str, Any] | None = None
) -> Response:
    account_id = principal.account_id
    return form_page(
        "asset/form.html",
        draft,
        principal=principal,
        asset=record,
        project_name=project_name(account_id, record["project_id"]) if record else None,
        has_projects=bool(record) or project_total(read_counters(account_id)) > 0,
        types=list(map(shown_keyword, known_words(account_id, "type"))),
        statuses=list(map(shown_keyword, known_words(account_id, "status"))),
    )
