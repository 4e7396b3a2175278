"""The page of one project, and what is done from it."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from flask import Response, request

from app.api.openapi.geojson import GEOJSON
from app.assets.listing import asset_query, list_assets
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.pages.editable_fields import PROJECT_FIELDS, field_facts
from app.pages.export_formats import format_names
from app.pages.metadata import linked_metadata
from app.pages.projects.project.details import (
    SOURCES,
    asset_place,
    draw_project,
    project_location,
)
from app.pages.recent_changes import latest_changes
from app.projects.boundaries.overlaps import overlaps_of_project
from app.projects.boundaries.restoring import read_boundary_to_restore, restore_boundary
from app.projects.boundary_history.listing import list_entries, read_entry
from app.projects.lookup import check_project, read_project
from app.projects.service import archive_project, delete_project, restore_project
from app.site.form_fields import ConfirmationSchema
from app.site.forms import sent_draft
from app.site.pages import PageBlueprint, page, redirect_to, revalidated
from app.site.protection import own_site_only
from app.site.signed_in import of_account
from app.values import clock
from app.values.strict_json import dumps

bp = PageBlueprint("project_page", __name__, section="/projects")

_ASSETS: Final = 100  # on the map and in the list of the page
_BOUNDARIES: Final = 10  # on a page of the history


@bp.get("/projects/<project_id>", of_account("projects:read"))
def project(principal: Principal, project_id: str) -> Response:
    """A project: boundary, area, assets, history."""
    account_id = principal.account_id
    record = read_project(account_id, project_id)
    number = max(request.args.get("page", 1, int), 1)
    entries, total = list_entries(account_id, project_id, number, _BOUNDARIES)
    before, _ = list_entries(account_id, project_id, number * _BOUNDARIES + 1, 1)
    assets, asset_total = list_assets(account_id, project_id, asset_query(per_page=_ASSETS))
    listed_assets = list(assets)
    return page(
        "project/project.html",
        principal=principal,
        project=record,
        metadata=linked_metadata(record["metadata"], "/projects", status="any"),
        facts=field_facts(PROJECT_FIELDS, record),
        changes=latest_changes(account_id, project_id),
        entries=list(zip_longest(entries, [*entries[1:], *before])),
        page_number=number,
        pages=-(-total // _BOUNDARIES),
        sources=SOURCES,
        assets=listed_assets,
        places=[place for asset in listed_assets if (place := asset_place(asset))],
        asset_total=asset_total,
        formats=format_names("projects"),
        drawing=draw_project(record, listed_assets),
        now=clock.now(),
    )


@bp.get("/projects/<project_id>/boundary", of_account("projects:read"))
@own_site_only
def boundary(principal: Principal, project_id: str) -> Response:
    """The boundary of a project for its map, as a GeoJSON geometry or null."""
    record = read_project(principal.account_id, project_id)
    return revalidated(dumps(record["geometry"]), GEOJSON)


@bp.get("/projects/<project_id>/where", of_account("projects:read"))
@own_site_only
def where(principal: Principal, project_id: str) -> Response:
    """Where a project lies, as a sentence in JSON; empty without a boundary."""
    record = read_project(principal.account_id, project_id)
    return revalidated(dumps(project_location(record)), "application/json")


@bp.get("/projects/<project_id>/boundaries/<boundary_id>", of_account("projects:read"))
@own_site_only
def former_boundary(principal: Principal, project_id: str, boundary_id: str) -> Response:
    """A boundary that a project has had, as a GeoJSON geometry or null."""
    entry = read_entry(principal.account_id, project_id, boundary_id)
    return revalidated(dumps(entry["geometry"]), GEOJSON)


@bp.get("/projects/<project_id>/overlaps", of_account("projects:read"))
def overlaps(principal: Principal, project_id: str) -> Response:
    """The projects that overlap with a project: a part of its page."""
    check_project(principal, project_id)
    return page("project/overlaps.html", overlaps=overlaps_of_project(principal, project_id))


@bp.post("/projects/<project_id>/boundaries/<boundary_id>/restore", of_account("projects:write"))
def restore_former(principal: Principal, project_id: str, boundary_id: str) -> Response:
    """Make a former boundary the present one again."""
    former = read_boundary_to_restore(principal, project_id, boundary_id)
    with transaction():
        restore_boundary(principal, project_id, former)
    return redirect_to(f"/projects/{project_id}#history", "Boundary restored.")


@bp.post("/projects/<project_id>/archive", of_account("projects:write"))
def archive(principal: Principal, project_id: str) -> Response:
    """Archive a project."""
    with transaction():
        archive_project(principal, project_id)
    return redirect_to(f"/projects/{project_id}", "Project archived.")


@bp.post("/projects/<project_id>/restore", of_account("projects:write"))
def restore(principal: Principal, project_id: str) -> Response:
    """Restore an archived project."""
    with transaction():
        restore_project(principal, project_id)
    return redirect_to(f"/projects/{project_id}", "Project restored.")


@bp.post("/projects/<project_id>/delete", of_account("admin"))
def delete(principal: Principal, project_id: str) -> Response:
    """Delete an archived project with its assets and former boundaries."""
    name = read_project(principal.account_id, project_id)["name"]
    if not sent_draft(ConfirmationSchema(name)).values:
        message = f"Nothing was deleted. To confirm, type the name: {name}"
        return redirect_to(f"/projects/{project_id}", message)
    with transaction():
        delete_project(principal, project_id)
    return redirect_to("/projects?status=archived", f"{name} deleted.")
