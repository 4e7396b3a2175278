"""The map and the list of projects."""

from __future__ import annotations

import math
from typing import Any, Final

from flask import Response, current_app, request

from app.auth.principal import Principal
from app.dashboard.projects.counts import count_by_status
from app.dashboard.projects.filters import PER_PAGE, SORTS, read_filters, status_choices
from app.exports.service import FORMATS
from app.http.kept_responses import kept_response
from app.maps.service import Wanted, draw_map, map_tag
from app.policy.files import FORMATS_OUT
from app.projects.service import list_projects, project_query
from app.site.pages import PageBlueprint, page
from app.site.signed_in import is_from_script, of_account

bp = PageBlueprint("project_pages", __name__, section="/projects")

_GEOJSON: Final = "application/geo+json"


@bp.get("/projects")
@of_account("projects:read")
def projects(principal: Principal) -> Response:
    """Projects on a map and in a list."""
    filters = read_filters(request.args)
    query = project_query(**filters.values)
    records, total = list_projects(principal.account_id, query, boundaries=False)
    values: dict[str, Any] = {
        "principal": principal,
        "filters": filters,
        "projects": list(records),
        "total": total,
        "pages": math.ceil(total / PER_PAGE),
        "formats": {name: FORMATS_OUT[name] for name in FORMATS["projects"]},
    }
    if is_from_script():
        return page("projects/results.html", **values)
    return page(
        "projects/projects.html",
        **values,
        statuses=status_choices(principal.account_id),
        sorts={name: words for name, (words, _, _) in SORTS.items()},
        has_any=any(count_by_status(principal.account_id).values()),
        tiles=current_app.config["SETTINGS"],
    )


@bp.get("/projects/map")
@of_account("projects:read")
def projects_map(principal: Principal) -> Response:
    """The shapes of the projects in a box, as GeoJSON for the map of the page."""
    filters = read_filters(request.args)
    zoom = min(max(request.args.get("zoom", 0, int), 0), 22)
    wanted = Wanted(filters.values.get("bbox"), filters.status, filters.values.get("search"))
    tag = map_tag(principal.account_id, wanted, zoom)

    def make() -> Response:
        return Response(draw_map(principal.account_id, wanted, zoom), content_type=_GEOJSON)

    return kept_response(tag, _GEOJSON, make)
