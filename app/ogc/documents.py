"""Documents that describe the service: the landing page, conformance, the collections."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import func

from app.api.openapi.geojson import GEOJSON
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.column_types import RawTimestamp
from app.db.queries import CompiledQuery
from app.geometry import Bounds, wrapped_box
from app.geometry.shapes import CRS84, SYSTEMS
from app.http.urls import OGC, absolute_url
from app.lists.query import ListQuery
from app.lists.statements import ListStatement, list_statement
from app.ogc.collections import COLLECTIONS, Collection, document_links
from app.ogc.properties import SCHEMA
from app.ogc.responses import HTML, JSON

OPENAPI: Final = "application/vnd.oai.openapi+json;version=3.0"
_REL: Final = "http://www.opengis.net/def/rel/ogc/1.0"
_SPEC: Final = "http://www.opengis.net/spec"
CLASSES: Final = (
    f"{_SPEC}/ogcapi-common-1/1.0/conf/core",
    f"{_SPEC}/ogcapi-common-2/1.0/conf/collections",
    f"{_SPEC}/ogcapi-features-1/1.0/conf/core",
    f"{_SPEC}/ogcapi-features-1/1.0/conf/oas30",
    f"{_SPEC}/ogcapi-features-1/1.0/conf/html",
    f"{_SPEC}/ogcapi-features-1/1.0/conf/geojson",
    f"{_SPEC}/ogcapi-features-2/1.0/conf/crs",
    f"{_SPEC}/ogcapi-features-3/1.0/conf/queryables",
    f"{_SPEC}/ogcapi-features-3/1.0/conf/queryables-query-parameters",
    f"{_SPEC}/ogcapi-features-3/1.0/conf/filter",
    f"{_SPEC}/ogcapi-features-3/1.0/conf/features-filter",
    f"{_SPEC}/ogcapi-features-4/1.0/conf/create-replace-delete",
    f"{_SPEC}/ogcapi-features-4/1.0/conf/update",
    f"{_SPEC}/ogcapi-features-4/1.0/conf/optimistic-locking-etags",
    f"{_SPEC}/ogcapi-features-4/1.0/conf/features",
    f"{_SPEC}/ogcapi-features-5/1.0/conf/schemas",
    f"{_SPEC}/ogcapi-features-5/1.0/conf/core-roles-features",
    f"{_SPEC}/ogcapi-features-5/1.0/conf/returnables-and-receivables",
    f"{_SPEC}/cql2/1.0/conf/cql2-text",
    f"{_SPEC}/cql2/1.0/conf/cql2-json",
    f"{_SPEC}/cql2/1.0/conf/basic-cql2",
    f"{_SPEC}/cql2/1.0/conf/advanced-comparison-operators",
    f"{_SPEC}/cql2/1.0/conf/basic-spatial-functions",
    f"{_SPEC}/cql2/1.0/conf/basic-spatial-functions-plus",
)


def landing_document(account_name: str, instance_name: str) -> dict[str, Any]:
    """The landing page."""
    base = absolute_url(OGC)
    return {
        "title": f"{account_name} · {instance_name}",
        "description": "Forest projects and their assets as OGC API Features.",
        "links": document_links(
            ("self", JSON, "This document", base),
            ("alternate", HTML, "This document as a page", f"{base}?f=html"),
            ("service-desc", OPENAPI, "The API", f"{base}/api"),
            ("service-doc", HTML, "The API, for people", f"{base}/api?f=html"),
            ("conformance", JSON, "What this service conforms to", f"{base}/conformance"),
            (f"{_REL}/conformance", JSON, "What this service conforms to", f"{base}/conformance"),
            ("data", JSON, "The collections", f"{base}/collections"),
            (f"{_REL}/data", JSON, "The collections", f"{base}/collections"),
        ),
    }


def conformance_document() -> dict[str, Any]:
    """The conformance classes."""
    return {"conformsTo": list(CLASSES)}


def collections_document(principal: Principal) -> dict[str, Any]:
    """The collections that the principal may read."""
    base = absolute_url(f"{OGC}/collections")
    return {
        "links": document_links(
            ("self", JSON, "This document", base),
            ("alternate", HTML, "This document as a page", f"{base}?f=html"),
        ),
        "crs": [crs.uri for crs in SYSTEMS],
        "collections": [
            collection_document(principal, item) for item in COLLECTIONS if principal.may(item.read)
        ],
    }


def collection_document(principal: Principal, described: Collection) -> dict[str, Any]:
    """One collection."""
    base = absolute_url(described.path)
    document: dict[str, Any] = {
        "id": described.id,
        "title": described.title,
        "description": described.description,
        "itemType": "feature",
        "crs": [crs.uri for crs in SYSTEMS],
        "storageCrs": CRS84.uri,
        "links": document_links(
            ("self", JSON, described.title, base),
            ("alternate", HTML, f"{described.title} as a page", f"{base}?f=html"),
            ("items", GEOJSON, "The features", f"{base}/items"),
            ("items", HTML, "The features as a page", f"{base}/items?f=html"),
            ("describedby", SCHEMA, "The schema", f"{base}/schema"),
            (f"{_REL}/schema", SCHEMA, "The schema", f"{base}/schema"),
            (f"{_REL}/queryables", SCHEMA, "What can be filtered by", f"{base}/queryables"),
        ),
    }
    if extent := _collection_extent(principal, described):
        document["extent"] = extent
    return document


def _collection_extent(principal: Principal, described: Collection) -> dict[str, Any]:
    """The box around the features that the principal may see, if any has a geometry, and the
    interval of their changes. With a box across the antimeridian, it is the whole circle."""
    account_id, query = principal.account_id, ListQuery(within=principal.project_ids)
    statement = list_statement(described.source.table, query)
    rows = _extent_query(statement).tuples(**statement.values(account_id, account_id, query))
    west, south, east, north, first, last = rows[0]
    extent: dict[str, Any] = {}
    if west is not None:
        bounds = wrapped_box(Bounds(west, south, east, north))
        extent["spatial"] = {"bbox": [list(bounds)], "crs": CRS84.uri}
    if first is not None:
        extent["temporal"] = {
            "interval": [[first, last]],
            "trs": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian",
        }
    return extent


@cache
def _extent_query(statement: ListStatement) -> CompiledQuery:
    table = statement.table
    columns = table.table.c
    west, south, east, north = (columns[side] for side in table.sides)
    bounds = (func.min(west), func.min(south), func.max(east), func.max(north))
    times = (func.min(columns.updated_at), func.max(columns.updated_at))
    extent = columns_of(table.model).add_columns(
        *(bound.label(name) for name, bound in zip("wsen", bounds, strict=True)),
        *(RawTimestamp(t).label(name) for name, t in zip(("first", "last"), times, strict=True)),
    )
    return CompiledQuery(statement.filtered(extent))
