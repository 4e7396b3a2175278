"""Reading features: the rows of a page, or one of them."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api.openapi.geojson import GEOJSON
from app.assets.service import read_asset
from app.auth.guard import require_project
from app.auth.principal import Principal
from app.geometry.shapes import Crs
from app.http.errors import NotFound
from app.http.etags import GEOJSON as TAG_ENDING
from app.http.etags import entity_tag, with_coding
from app.http.urls import absolute_url
from app.lists.cql.nodes import Comparison
from app.lists.intersecting import TooMuchToCompare
from app.lists.selecting import CursorInvalid, SelectedPage, Selection, select_page
from app.ogc.collections import Collection, document_links
from app.ogc.features import as_feature
from app.ogc.parameters import Query, parameter_error
from app.ogc.responses import HTML, JSON, feature_response
from app.projects.lookup import read_project
from app.values.ids import is_id
from app.values.strict_json import dumps


def select_features(
    principal: Principal, collection: Collection, query: Query, *, limit: int, most_bytes: int
) -> SelectedPage:
    """Select the rows of a page.

    Raises:
        BadRequest: the cursor is invalid, or there is too much to compare.
        ServiceUnavailable: the page is large, and too many requests are waiting.
    """
    within = principal.project_ids
    selection = Selection(query.condition, query.box, query.after, limit, most_bytes, within)
    try:
        return select_page(collection.source, principal.account_id, selection)
    except CursorInvalid:
        message = "This cursor is invalid. Follow the link to the next page, or leave it out."
        raise parameter_error("cursor", message) from None
    except TooMuchToCompare:
        message = (
            "Too many features are near a geometry of the filter to compare them all. Use a BBOX "
            "around them, a smaller geometry, or the parameter bbox."
        )
        raise parameter_error("filter", message) from None


def read_record(principal: Principal, collection: Collection, feature_id: str) -> dict[str, Any]:
    """The record of a feature in ``/v1``. Raises NotFound."""
    if collection.word == "project":
        require_project(principal, feature_id)
        return read_project(principal.account_id, feature_id)
    project_id = project_of(principal, collection, feature_id)
    return read_asset(principal.account_id, project_id, feature_id)


def project_of(principal: Principal, collection: Collection, asset_id: str) -> str:
    """The id of the project that an asset belongs to. Raises NotFound."""
    if is_id("asset", asset_id):
        selection = Selection(Comparison("id", "=", asset_id), within=principal.project_ids)
        place = [field.name for field in collection.type.property_fields].index("project_id")
        for row in select_page(collection.source, principal.account_id, selection).rows:
            return str(row[place])
    raise NotFound("This asset does not exist.")


def one_feature(
    collection: Collection, record: dict[str, Any], crs: Crs, status: int = 200
) -> Response:
    """The response with a feature, its links and the entity tag of the record."""
    geojson = as_feature(collection, record, crs)
    url = absolute_url(f"{collection.path}/items/{record['id']}")
    geojson["links"] = document_links(
        ("self", GEOJSON, "This feature", url),
        ("alternate", HTML, "This feature as a page", f"{url}?f=html"),
        ("collection", JSON, collection.title, absolute_url(collection.path)),
    )
    tag = with_coding(entity_tag([dumps(record)]), TAG_ENDING)
    return feature_response(geojson, tag, crs, status)
