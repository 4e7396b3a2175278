"""The map and the list of projects."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from flask import Response, make_response, redirect, request

from app.api.openapi.geojson import GEOJSON
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.exports.responses import export_response
from app.exports.schemas import ProjectExportQuerySchema
from app.exports.service import export_of
from app.geometry.countries import country_name
from app.http.errors import Conflict, NotFound
from app.http.response_cache import cached_response
from app.pages.eudr.choices import address_of, read_choices
from app.pages.export_formats import format_names
from app.pages.filters import PER_PAGE, are_typed, load_filters, refuse_problems
from app.pages.projects.filters import SORTS, read_filters, status_choices
from app.policy.files import EUDR_FORMATS
from app.policy.request_limits import MAP_ZOOM
from app.projects.listing import list_projects, project_query
from app.projects.map.colors import read_legend
from app.projects.map.service import draw_map, map_tag
from app.projects.service import archive_project, restore_project
from app.site.formats import pluralize
from app.site.pages import PageBlueprint, local_path, page, redirect_to
from app.site.protection import own_site_only
from app.site.signed_in import is_from_script, of_account

bp = PageBlueprint("project_pages", __name__, section="/projects")


@bp.get("/projects", of_account("projects:read"))
def projects(principal: Principal) -> Response:
    """Projects on a map and in a list."""
    filters = read_filters(request.args)
    if are_typed(request.args) and not filters.problems:
        return make_response(redirect(filters.address(), 303))
    query = project_query(**filters.values)
    records, total = list_projects(principal.account_id, query, boundaries=False)
    values: dict[str, Any] = {
        "principal": principal,
        "filters": filters,
        "projects": list(records),
        "total": total,
        "pages": math.ceil(total / PER_PAGE),
        "formats": format_names("projects"),
        "country_name": country_name,
    }
    if is_from_script():
        return page("projects/results.html", **values)
    return page(
        "projects/projects.html",
        **values,
        statuses=status_choices(principal.account_id),
        sorts={name: words for name, (words, _, _) in SORTS.items()},
    )


@bp.get("/projects/map", of_account("projects:read"))
@own_site_only
def projects_map(principal: Principal) -> Response:
    """The shapes of the projects in a box, as GeoJSON for the map of the page."""
    filters = read_filters(request.args)
    refuse_problems(filters.problems)
    zoom = min(max(request.args.get("zoom", 0, int), 0), MAP_ZOOM)
    query = project_query(**filters.values)
    asked = (principal.account_id, query, zoom, filters.color_by)

    def draw() -> Response:
        return Response(draw_map(*asked), content_type=GEOJSON)

    return cached_response(map_tag(*asked), GEOJSON, draw)


@bp.get("/projects/legend", of_account("projects:read"))
@own_site_only
def projects_legend(principal: Principal) -> Response:
    """What the map can be colored by, and the colors of what it shows, for its page."""
    filters = read_filters(request.args)
    refuse_problems(filters.problems)
    legend = read_legend(principal.account_id, project_query(**filters.values), filters.color_by)
    return page("projects/legend.html", legend=legend, color_by=filters.color_by)


@bp.route("/projects/export", of_account("projects:read"), methods=["GET", "POST"])
@own_site_only
def export(principal: Principal) -> Response:
    """A file with the selected projects, or with all that the filters of the address leave; for
    the EUDR, the page that says what would be in it."""
    values = {"format": request.values.get("format", "geojson")}
    ids = request.values.getlist("ids")
    if values["format"] in EUDR_FORMATS:
        simplified = str(values["format"] == "eudr_simplified").lower()
        if ids:
            return redirect_to(address_of(principal, ids, simplified))
        choices = read_choices(principal, {**request.args.to_dict(), "simplified": simplified})
        refuse_problems(choices.problems)
        return redirect_to(choices.address())
    if ids:
        values["ids"] = ",".join(ids)
    else:
        filters = read_filters(request.args)
        refuse_problems(filters.problems)
        values |= filters.narrowing
    loaded = load_filters(ProjectExportQuerySchema(), values)
    requested = export_of("projects", principal.account_id, loaded)
    return export_response(requested, principal.account_name)


@bp.post("/projects/archive", of_account("projects:write"))
def archive(principal: Principal) -> Response:
    """Archive the selected projects, except for archived ones."""
    return _change_selected(principal, archive_project, "archived")


@bp.post("/projects/restore", of_account("projects:write"))
def restore(principal: Principal) -> Response:
    """Restore the selected projects."""
    return _change_selected(principal, restore_project, "restored")


def _change_selected(
    principal: Principal, change: Callable[[Principal, str], object], participle: str
) -> Response:
    """Change each of the selected projects in its own transaction, as others wait for it."""
    ids = request.form.getlist("ids")[:PER_PAGE]
    back = local_path(request.form.get("back"))
    back = back if back.startswith("/projects") else "/projects"
    if not ids:
        return redirect_to(back, f"Select the projects that are to be {participle} first.")
    changed = 0
    for project_id in ids:
        with suppress(Conflict, NotFound), transaction():
            change(principal, project_id)
            changed += 1
    message = f"{participle.capitalize()} {pluralize(changed, 'project')}."
    if left := len(ids) - changed:
        message += f" {pluralize(left, 'project')} could not be: somebody else was quicker."
    return redirect_to(back, message)
