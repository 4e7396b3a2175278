"""Reading features: a page of a collection, or one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flask import Response

from app.assets.service import read_asset
from app.auth.principal import Principal
from app.cql.nodes import Comparison
from app.db.replica import read_from_replica
from app.http.errors import NotFound
from app.http.etags import GEOJSON as TAG_ENDING
from app.http.etags import entity_tag, with_coding
from app.http.urls import absolute_url
from app.listing.intersecting import TooMuchToCompare
from app.listing.selecting import CursorInvalid, SelectedPage, Selection, select_page
from app.ogc.collections import Collection, links
from app.ogc.features import feature, features
from app.ogc.parameters import Query, refused
from app.ogc.responses import HTML, feature_response, features_response, next_url, other_format
from app.openapi.geojson import GEOJSON
from app.policy.bounds import LIST_BYTES
from app.policy.ogc import LIMIT_DEFAULT, TRANSFORMED_BYTES
from app.projects.service import read_project
from app.shapes import CRS84, Crs
from app.values import clock
from app.values.ids import is_id
from app.values.strict_json import dumps

_BLOCK: Final = 256 * 1024  # bytes of geometries that are written at once


def features_page(principal: Principal, collection: Collection, query: Query) -> Response:
    """A page of features, as a FeatureCollection.

    Raises:
        BadRequest: the cursor is none, or the filter needs too much to be compared.
        ServiceUnavailable: the page is large, and too many others are before it.
    """

    def read() -> Response:
        limit = query.limit or LIMIT_DEFAULT
        most = LIST_BYTES if query.crs is CRS84 else TRANSFORMED_BYTES
        page = selected(principal, collection, query, limit=limit, most_bytes=most)
        blocks = _collection_blocks(page, collection, query.crs, cursors := list[str]())
        response = features_response(blocks, query.crs, is_large=page.is_large)
        for cursor in cursors:
            response.headers["Link"] = f'<{next_url(cursor)}>; rel="next"; type="{GEOJSON}"'
        return response

    return read_from_replica(read)


def selected(
    principal: Principal, collection: Collection, query: Query, *, limit: int, most_bytes: int
) -> SelectedPage:
    """The rows of a page. The errors are those of ``features_page``."""
    wanted = Selection(query.condition, query.box, query.after, limit, most_bytes)
    try:
        return select_page(collection.source, principal.account_id, wanted)
    except CursorInvalid:
        message = "This cursor is invalid. Follow the link to the next page, or leave it out."
        raise refused("cursor", message) from None
    except TooMuchToCompare:
        message = (
            "Too many features are near a geometry of the filter to compare them all. Use a BBOX "
            "around them, a smaller geometry, or the parameter bbox."
        )
        raise refused("filter", message) from None


def read_record(account_id: str, collection: Collection, feature_id: str) -> dict[str, Any]:
    """The record of a feature, as ``/v1`` has it. Raises NotFound."""
    if collection.word == "project":
        return read_project(account_id, feature_id)
    return read_asset(account_id, project_of(account_id, collection, feature_id), feature_id)


def project_of(account_id: str, collection: Collection, asset_id: str) -> str:
    """The id of the project that an asset belongs to. Raises NotFound."""
    if is_id("asset", asset_id):
        selection = Selection(Comparison("id", "=", asset_id))
        place = [field.name for field in collection.type.property_fields].index("project_id")
        for row in select_page(collection.source, account_id, selection).rows:
            return str(row[place])
    raise NotFound("This asset does not exist.")


def one_feature(
    collection: Collection, record: dict[str, Any], crs: Crs, status: int = 200
) -> Response:
    """A feature with links, and the entity tag of the record."""
    made = feature(collection, record, crs)
    url = absolute_url(f"{collection.path}/items/{record['id']}")
    made["links"] = links(
        ("self", GEOJSON, "This feature", url),
        ("alternate", HTML, "This feature as a page", f"{url}?f=html"),
        ("collection", "application/json", collection.title, absolute_url(collection.path)),
    )
    tag = with_coding(entity_tag([dumps(record)]), TAG_ENDING)
    return feature_response(made, tag, crs, status)


def _collection_blocks(
    page: SelectedPage, collection: Collection, crs: Crs, cursors: list[str]
) -> Iterator[bytes]:
    """A FeatureCollection in blocks. The cursor of the next page is added to ``cursors``."""
    before, returned, size, some = b'{"type":"FeatureCollection","features":[', 0, 0, []
    for made, geometry_bytes in features(collection, page.rows, crs):
        some.append(made)
        size += geometry_bytes
        if size > _BLOCK:
            yield before + dumps(some)[1:-1]
            before, returned, size, some = b",", returned + len(some), 0, []
    if some:
        yield before + dumps(some)[1:-1]
    end = _ending(page, collection, returned + len(some), cursors)
    yield (b"" if some or returned else before) + b"]," + end


def _ending(page: SelectedPage, collection: Collection, returned: int, cursors: list[str]) -> bytes:
    """The members after the features."""
    found = [
        ("self", GEOJSON, "This page", other_format("json")),
        ("alternate", HTML, "This page for people", other_format("html")),
        ("collection", "application/json", collection.title, absolute_url(collection.path)),
    ]
    if (cursor := page.next()) is not None:
        cursors.append(cursor)
        found.append(("next", GEOJSON, "The next page", next_url(cursor)))
    members = {
        "numberMatched": page.matched,
        "numberReturned": returned,
        "timeStamp": clock.format_time(clock.now()),
        "links": links(*found),
    }
    return dumps(members)[1:]
