"""The OpenAPI 3.0 document of ``/ogc``, with a path for each collection.

GDAL looks paths up as they are, and QGIS takes the size of its pages from the component ``limit``.
"""

from __future__ import annotations

from typing import Any, Final

from app.api.merge_patch import MERGE_PATCH
from app.api.openapi.geojson import GEOJSON
from app.api.query_schemas import METADATA_DESCRIPTION
from app.auth.principal import Principal
from app.http.urls import OGC, absolute_url
from app.ogc.api_components import FEATURE, OBJECT, SECURITY, STRING, ogc_components
from app.ogc.collections import COLLECTIONS, Collection
from app.ogc.documents import OPENAPI
from app.ogc.properties import SCHEMA, parameter_schema
from app.ogc.responses import JSON
from app.values.version import VERSION

_REFUSED: Final = ("400", "401", "403", "404", "429", "500", "503")
_REFUSED_CHANGE: Final = (*_REFUSED, "409", "412", "413", "415", "422")
_KEYS: Final = "Properties that are not described become keys of its metadata."
_NEW: Final = {"project": _KEYS, "asset": f"`project_id` is required. {_KEYS}"}


def api_document(principal: Principal, instance_name: str, contact: dict[str, str]) -> Any:
    """The description of the operations that the principal can use."""
    paths: dict[str, Any] = {
        "/": _read_operation("landing", "The landing page", "Links to the other documents.", JSON),
        "/conformance": _public_path(
            _read_operation("conformance", "What it conforms to", "The conformance classes.", JSON)
        ),
        "/api": _read_operation("api", "This document", "What the credential can read.", OPENAPI),
        "/collections": _read_operation(
            "collections", "The collections", "Those that the credential can read.", JSON
        ),
    }
    for collection in COLLECTIONS:
        if principal.may(collection.read):
            paths |= _collection_paths(collection)
    return {
        "openapi": "3.0.3",
        "info": {
            "title": f"{instance_name}: OGC API Features",
            "version": VERSION,
            "description": "Forest projects and their assets, for programs that draw maps.",
            "contact": contact,
            "license": {"name": "MIT", "url": "https://spdx.org/licenses/MIT.html"},
        },
        "servers": [{"url": absolute_url(OGC), "description": "This instance"}],
        "tags": [
            {"name": "service", "description": "What this service offers."},
            *(
                {"name": collection.id, "description": collection.description}
                for collection in COLLECTIONS
            ),
        ],
        "paths": paths,
        "security": [{name: []} for name in SECURITY],
        "components": ogc_components(),
    }


def _collection_paths(collection: Collection) -> dict[str, Any]:
    base, name = f"/collections/{collection.id}", collection.id
    items = ["f", "limit", "cursor", "bbox", "bbox-crs", "datetime", "crs"]
    items += ["filter", "filter-lang", "filter-crs"]
    own = [_own_parameter(collection, property_name) for property_name in collection.parameters]
    own.append(_METADATA_PARAMETER)
    title, word = collection.title.lower(), collection.word
    feature_id = {
        "name": "featureId",
        "in": "path",
        "required": True,
        "description": f"The id of the {word}.",
        "schema": STRING,
    }
    return {
        base: _read_operation(
            name,
            f"The collection of {title}",
            "Its coordinate systems, and where and when its features are.",
            JSON,
            tag=name,
        ),
        f"{base}/schema": _read_operation(
            f"{name}Schema",
            "Properties of features",
            "A JSON Schema. Keys of the metadata are among the properties.",
            SCHEMA,
            tag=name,
        ),
        f"{base}/queryables": _public_path(
            _read_operation(
                f"{name}Queryables",
                "Filterable properties",
                "A JSON Schema of what `filter` can name.",
                SCHEMA,
                tag=name,
            )
        ),
        f"{base}/items": {
            "get": _describe_read(
                f"{name}Items",
                f"A page of {title}",
                "Features that meet all parameters. The link `next` leads to the following page.",
                GEOJSON,
                name,
                items,
                own,
                has_tag=collection.version is not None,
            ),
            "post": _describe_change(
                f"create_{word}", f"Create a feature: a new {word}", _NEW[word], name, "201"
            ),
        },
        f"{base}/items/{{featureId}}": {
            "parameters": [feature_id],
            "get": _describe_read(
                f"{name}Item",
                f"One {word}",
                f"The {word} as a GeoJSON Feature.",
                GEOJSON,
                name,
                ["f", "crs"],
                has_tag=True,
            ),
            "put": _describe_change(
                f"replace_{word}",
                "Replace all properties",
                "Properties missing from the body become empty.",
                name,
                "200",
            ),
            "patch": _describe_change(
                f"update_{word}",
                "Change some properties",
                "Properties missing from the body stay unchanged. A null property is removed.",
                name,
                "200",
            ),
            "delete": _describe_deletion(collection),
        },
    }


def _read_operation(
    operation: str, summary: str, text: str, media_type: str, *, tag: str = "service"
) -> Any:
    return {"get": _describe_read(operation, summary, text, media_type, tag, ["f"])}


def _public_path(path: Any) -> Any:
    """A path that needs no credential."""
    return {"get": path["get"] | {"security": []}}


def _describe_read(
    operation: str,
    summary: str,
    text: str,
    media_type: str,
    tag: str,
    parameters: list[str],
    own: list[dict[str, Any]] | None = None,
    *,
    has_tag: bool = False,
) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/FeatureCollection"} if own is not None else OBJECT
    schema = FEATURE if operation.endswith("Item") else schema
    contents = {media_type: {"schema": schema}, "text/html": {"schema": STRING}}
    success: dict[str, Any] = {"200": {"description": summary, "content": contents}}
    if has_tag:
        success["304"] = {"description": "If-None-Match has the tag of this response"}
    references = [{"$ref": f"#/components/parameters/{name}"} for name in parameters]
    return {
        "operationId": operation,
        "summary": summary,
        "description": text,
        "tags": [tag],
        "parameters": [*references, *(own or [])],
        "responses": success | _refusal_responses(_REFUSED),
    }


def _describe_change(
    operation: str, summary: str, text: str, tag: str, status: str
) -> dict[str, Any]:
    media_type = MERGE_PATCH if operation.startswith("update") else GEOJSON
    headers = ["Content-Crs", *(["If-Match"] if status == "200" else [])]
    success: dict[str, Any] = {
        "description": "The changed feature",
        "content": {GEOJSON: {"schema": FEATURE}},
    }
    if status == "201":
        success["headers"] = {"Location": {"description": "Its URL", "schema": STRING}}
    return {
        "operationId": operation,
        "summary": summary,
        "description": text,
        "tags": [tag],
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in headers],
        "requestBody": {
            "required": True,
            "content": {media_type: {"schema": OBJECT}},
        },
        "responses": {status: success} | _refusal_responses(_REFUSED_CHANGE),
    }


def _describe_deletion(collection: Collection) -> dict[str, Any]:
    is_project = collection.word == "project"
    return {
        "operationId": f"delete_{collection.word}",
        "summary": "Delete it with its assets" if is_project else "Delete it",
        "description": "Its status must be archived." if is_project else "It cannot be restored.",
        "tags": [collection.id],
        "parameters": [{"$ref": "#/components/parameters/If-Match"}],
        "responses": {"204": {"description": "Deleted"}} | _refusal_responses(_REFUSED_CHANGE),
    }


_METADATA_PARAMETER: Final[dict[str, Any]] = {
    "name": "metadata",
    "in": "query",
    "required": False,
    "description": METADATA_DESCRIPTION,
    "schema": {"type": "object", "additionalProperties": {"type": "string"}},
}


def _own_parameter(collection: Collection, name: str) -> dict[str, Any]:
    field = next(field for field in collection.type.property_fields if field.name == name)
    schema = {key: value for key, value in parameter_schema(field).items() if key != "description"}
    return {
        "name": name,
        "in": "query",
        "required": False,
        "description": f"Only features with exactly this {name}.",
        "schema": schema,
    }


def _refusal_responses(statuses: tuple[str, ...]) -> dict[str, Any]:
    return {status: {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)}
