"""The map and the list of assets."""

from __future__ import annotations

import math
from typing import Any, Literal

from flask import Response, current_app, make_response, redirect, request

from app.api.openapi.geojson import GEOJSON
from app.assets.listing import asset_query, list_assets
from app.assets.places import find_places
from app.assets.words import known_words
from app.auth.principal import Principal
from app.exports.responses import export_response
from app.exports.schemas import AssetExportQuerySchema
from app.exports.service import export_of, features_for_eudr
from app.geometry import Bounds, bbox_member, tightest_box
from app.http.errors import BadRequest
from app.pages.assets.filters import CHANGED, SORTS, AssetFilters, read_filters
from app.pages.eudr.choices import address_of
from app.pages.export_formats import format_names
from app.pages.filters import PER_PAGE, are_typed, load_filters, refuse_problems
from app.pages.project_choice import find_projects, projects_by_id
from app.pages.projects.project.details import asset_place
from app.site.pages import PageBlueprint, page, redirect_to, revalidated
from app.site.protection import own_site_only
from app.site.signed_in import is_from_script, of_account
from app.values.strict_json import dumps

bp = PageBlueprint("asset_list", __name__, section="/assets")


@bp.get("/assets", of_account("assets:read"))
def assets(principal: Principal) -> Response:
    """Assets of all projects on a map and in a list."""
    account_id = principal.account_id
    filters = read_filters(account_id, request.args)
    if are_typed(request.args) and not filters.problems:
        return make_response(redirect(filters.address(), 303))
    records, total = _list_assets(account_id, filters)
    values: dict[str, Any] = {
        "principal": principal,
        "filters": filters,
        "assets": [record | {"place": asset_place(record)} for record in records],
        "projects": projects_by_id(account_id, [record["project_id"] for record in records]),
        "total": total,
        "pages": math.ceil(total / PER_PAGE),
        "formats": format_names("assets"),
    }
    if is_from_script():
        return page("assets/results.html", **values)
    return page(
        "assets/assets.html",
        **values,
        types=_word_choices(account_id, filters, "type"),
        statuses=_word_choices(account_id, filters, "status"),
        sorts={name: words for name, (words, _, _) in SORTS.items()},
        changed=CHANGED,
    )


@bp.get("/assets/map", of_account("assets:read"))
@own_site_only
def assets_map(principal: Principal) -> Response:
    """The assets in a box, as GeoJSON for the map of the page."""
    filters = read_filters(principal.account_id, request.args)
    refuse_problems(filters.problems)
    rows, is_all = _map_places(principal.account_id, filters)
    features = [_map_feature(row) for row in rows]
    box = tightest_box(Bounds(*(row.longitude, row.latitude) * 2) for row in rows)
    members = {"bbox": box and bbox_member(box), "features": features, "isAll": is_all}
    text = dumps({"type": "FeatureCollection", **members})
    return revalidated(text, GEOJSON)


@bp.get("/assets/projects", of_account("assets:read"))
def project_options(principal: Principal) -> Response:
    """The projects that match a text, as the options of a field."""
    text = request.args.get("project", "").strip()
    projects, _, _ = find_projects(principal.account_id, text)
    return page("assets/project_options.html", projects=projects)


@bp.route("/assets/export", of_account("assets:read"), methods=["GET", "POST"])
@own_site_only
def export(principal: Principal) -> Response:
    """A file with the selected assets, or with all that the filters of the address leave; for the
    EUDR, the page that says what would be in it."""
    values: dict[str, Any] = {"format": request.values.get("format", "geojson")}
    if ids := request.values.getlist("ids"):
        loaded = load_filters(AssetExportQuerySchema(), values | {"ids": ",".join(ids)})
    else:
        filters = read_filters(principal.account_id, request.args)
        if filters.project.problem:
            raise BadRequest("This cannot be exported: it is not clear which project is meant.")
        refuse_problems(filters.problems)
        loaded = load_filters(AssetExportQuerySchema(), values | filters.narrowing)
    requested = export_of("assets", principal.account_id, loaded)
    if requested.format == "eudr":
        app = current_app._get_current_object()  # type: ignore[attr-defined]
        plots = [plot.id for plot in features_for_eudr(requested, app)]
        if plots:
            return redirect_to(address_of(principal, plots))
    return export_response(requested, principal.account_name)


def _word_choices(
    account_id: str, filters: AssetFilters, field: Literal["type", "status"]
) -> dict[str, str]:
    """Return the labels of the types or statuses in use, with that of the filter."""
    words = [*known_words(account_id, field), *filter(None, [filters.typed.get(field)])]
    return {word: word.replace("_", " ").capitalize() for word in words}


def _list_assets(account_id: str, filters: AssetFilters) -> tuple[list[dict[str, Any]], int]:
    """Return (assets of the page, total); none while the project is unclear."""
    if filters.project.problem:
        return [], 0
    records, total = list_assets(account_id, filters.project.id, asset_query(**filters.values))
    return list(records), total


def _map_places(account_id: str, filters: AssetFilters) -> tuple[list[Any], bool]:
    """Return (assets on the map, True if these are all); none while the project is unclear."""
    if filters.project.problem:
        return [], True
    places = find_places(account_id, filters.project.id, asset_query(**filters.values))
    return list(places.rows), places.is_all


def _map_feature(row: Any) -> dict[str, Any]:
    geometry = {"type": "Point", "coordinates": (row.longitude, row.latitude)}
    names = ("name", "type", "status", "project_id")
    properties = {name: getattr(row, name) for name in names}
    return {"type": "Feature", "id": row.id, "geometry": geometry, "properties": properties}
