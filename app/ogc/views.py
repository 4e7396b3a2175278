"""The operations on the features of a collection."""

from __future__ import annotations

import logging
from typing import Any

from flask import Response, request
from sqlalchemy.exc import SQLAlchemyError

from app.api import envelope
from app.api.expensive import answer_in_turn
from app.api.parsing import refuse_body, refuse_parameters
from app.auth.principal import Principal
from app.db.engines import is_outage
from app.db.transactions import transaction
from app.geometry.shapes import CRS84
from app.http.etags import IfMatch
from app.http.urls import absolute_url
from app.ogc import bodies, editing, feature_collections, items, pages
from app.ogc.bulk_reads import is_bulk_read, write_bulk_read_entry
from app.ogc.collections import Collection
from app.ogc.features import as_feature
from app.ogc.parameters import FeatureSchema, Query, read_items_query, read_query
from app.ogc.responses import wants_html
from app.values.strict_json import dumps

log = logging.getLogger(__name__)


def read_features(principal: Principal, collection: Collection) -> Response:
    """A page of features."""
    query = read_items_query(collection)
    if wants_html():
        return pages.features_page(principal, collection, query)
    response = feature_collections.features_page(principal, collection, query)
    if response.status_code == 200:
        _audit_bulk_read(principal, collection, query)
    return response


def _audit_bulk_read(principal: Principal, collection: Collection, query: Query) -> None:
    """Write an entry for a bulk read. While the database cannot be written, reads continue without
    it."""
    try:
        if is_bulk_read(principal, collection, query):
            with transaction():
                write_bulk_read_entry(principal, collection)
    except SQLAlchemyError as error:
        if not is_outage(error):
            raise
        log.warning("a bulk read of %s has no entry: %s", principal.account_id, error)


def read_feature(principal: Principal, collection: Collection, feature_id: str) -> Response:
    """A feature."""
    record = items.read_record(principal, collection, feature_id)
    crs = read_query(FeatureSchema)["crs"]
    if wants_html() or crs is not CRS84:
        answer_in_turn()  # drawing or transforming a large boundary takes half a second
    if not wants_html():
        return items.one_feature(collection, record, crs)
    geojson = as_feature(collection, record, CRS84)
    geometry = geojson["geometry"]
    return pages.feature_page(collection, geojson, geometry and dumps(geometry).decode())


def create_feature(principal: Principal, collection: Collection) -> Response:
    """Create a feature."""
    refuse_parameters(request)
    values = bodies.read_new(collection)
    with transaction():
        record = editing.create_feature(principal, collection, values)
    response = items.one_feature(collection, record, bodies.content_crs(), 201)
    response.headers["Location"] = absolute_url(f"{collection.path}/items/{record['id']}")
    return response


def change_feature(principal: Principal, collection: Collection, feature_id: str) -> Response:
    """Replace a feature with PUT, or change some of its properties with PATCH."""
    items.read_record(principal, collection, feature_id)  # raises NotFound
    refuse_parameters(request)
    if_match = IfMatch(request.headers.get("If-Match"))
    patch: dict[str, Any] = {}
    if request.method == "PATCH":
        values, patch = bodies.read_patch(collection)
    else:
        values = bodies.read_replacement(collection)
    with transaction():
        editing.change_feature(principal, collection, feature_id, values, patch, if_match)
    record = items.read_record(principal, collection, feature_id)
    return items.one_feature(collection, record, bodies.content_crs())


def delete_feature(principal: Principal, collection: Collection, feature_id: str) -> Response:
    """Delete a feature."""
    items.read_record(principal, collection, feature_id)  # raises NotFound
    refuse_parameters(request)
    refuse_body(request)
    with transaction():
        if_match = IfMatch(request.headers.get("If-Match"))
        editing.delete_feature(principal, collection, feature_id, if_match)
    return envelope.empty_response()


def methods_of_collection(principal: Principal, collection: Collection) -> Response:
    """Return the methods that the credential may use. QGIS edits a layer only if it can add
    features, so POST is among them for who may change some projects and add none."""
    return _options_response("POST", principal.may(collection.write))


def methods_of_feature(principal: Principal, collection: Collection, **_: str) -> Response:
    """Return the methods that the credential may use on a feature, which need not exist."""
    return _options_response("PUT, PATCH, DELETE", principal.may(collection.write))


def _options_response(writing: str, may_write: bool) -> Response:
    reading, response = "GET, HEAD, OPTIONS", envelope.empty_response()
    response.headers["Allow"] = f"{reading}, {writing}" if may_write else reading
    return response
