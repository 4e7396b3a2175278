"""The components of the OpenAPI document of ``/ogc``."""

from __future__ import annotations

from typing import Any, Final

from app.geometry.shapes import SYSTEMS
from app.ogc.parameters import FORMATS, LANGUAGES
from app.policy.ogc import LIMIT_DEFAULT, LIMIT_MAX

STRING: Final = {"type": "string"}
_SYSTEM: Final = {"type": "string", "format": "uri", "enum": [crs.uri for crs in SYSTEMS]}
OBJECT: Final = {"type": "object"}
FEATURE: Final = {"$ref": "#/components/schemas/Feature"}
_FORM: Final = {"style": "form", "explode": False}  # for the parameters of Part 1
_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "f": {
        "description": "Format of the response, in place of the header Accept.",
        "schema": {"type": "string", "enum": list(FORMATS)},
    },
    "limit": {
        "description": "Features of a page, at most. A larger number means the maximum. A page of "
        "large boundaries has fewer; the link next leads to the others.",
        "schema": {
            "type": "integer",
            "minimum": 1,
            "maximum": LIMIT_MAX,
            "default": LIMIT_DEFAULT,
        },
        **_FORM,
    },
    "cursor": {"description": "Where a page begins, from the link next.", "schema": STRING},
    "bbox": {
        "description": "Only features that intersect this box: its lower and its upper corner. "
        "If the boundaries that cross its edge have more than 16 MB, their own boxes are compared.",
        "schema": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 6,
        },
        **_FORM,
    },
    "bbox-crs": {"description": "Coordinate system of bbox.", "schema": _SYSTEM},
    "datetime": {
        "description": "Only features that changed last at this time (RFC 3339), on this day in "
        "UTC, or in an interval such as 2026-01-01T00:00:00Z/.. or 2026-01-01/2026-01-31, whose "
        "last day counts as a whole.",
        "schema": STRING,
        **_FORM,
    },
    "crs": {"description": "Coordinate system of the response.", "schema": _SYSTEM},
    "filter": {"description": "Only features that match this filter.", "schema": STRING},
    "filter-lang": {
        "description": "Language of the filter.",
        "schema": {"type": "string", "enum": list(LANGUAGES), "default": "cql2-text"},
    },
    "filter-crs": {"description": "Coordinate system of the filter.", "schema": _SYSTEM},
}
SECURITY: Final[dict[str, dict[str, Any]]] = {
    "basic": {
        "type": "http",
        "scheme": "basic",
        "description": "An API key as the password, with any user name.",
    },
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key or another token."},
    "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "query": {
        "type": "apiKey",
        "in": "query",
        "name": "key",
        "description": "For programs that take nothing but an address. Use a key that can only "
        "read.",
    },
}
_STATUSES: Final = {
    "400": "The request is malformed.", "401": "No valid credential was sent.",
    "403": "The credential lacks the permission.", "404": "There is no such resource.",
    "409": "The current state does not allow this.", "412": "The feature has changed since.",
    "413": "The body is too large.", "415": "The body is no JSON.",
    "422": "A property is invalid.", "429": "There were too many requests.",
    "500": "Something went wrong on our side.", "503": "The service is unavailable.",
}  # fmt: skip


_LINKS: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["href", "rel"],
        "properties": dict.fromkeys(("href", "rel", "type", "title"), STRING),
    },
}
_SCHEMAS: Final[dict[str, Any]] = {
    "Feature": {
        "type": "object",
        "required": ["type", "id", "geometry", "properties"],
        "properties": {
            "type": {"type": "string", "enum": ["Feature"]},
            "id": STRING,
            "geometry": {"type": "object", "nullable": True},
            "properties": OBJECT,
            "links": _LINKS,
        },
    },
    "FeatureCollection": {
        "type": "object",
        "required": [
            "type", "features", "numberMatched", "numberReturned", "timeStamp", "links",
        ],
        "properties": {
            "type": {"type": "string", "enum": ["FeatureCollection"]},
            "features": {"type": "array", "items": FEATURE},
            "numberMatched": {"type": "integer", "minimum": 0},
            "numberReturned": {"type": "integer", "minimum": 0},
            "timeStamp": {"type": "string", "format": "date-time"},
            "links": _LINKS,
        },
    },
    "Error": {
        "type": "object",
        "required": ["error", "meta"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message", "details"],
                "properties": {
                    "code": STRING,
                    "message": STRING,
                    "details": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["field", "message", "code"],
                            "properties": dict.fromkeys(("field", "message", "code"), STRING),
                        },
                    },
                },
            },
            "meta": {"type": "object", "properties": {"request_id": STRING}},
        },
    },
}  # fmt: skip


def ogc_components() -> dict[str, Any]:
    """All components."""
    return {
        "parameters": _parameter_components(),
        "responses": {status: _refusal_component(text) for status, text in _STATUSES.items()},
        "schemas": _SCHEMAS,
        "securitySchemes": SECURITY,
    }


def _parameter_components() -> dict[str, Any]:
    parameters: dict[str, Any] = {
        name: {"name": name, "in": "query", "required": False} | parameter
        for name, parameter in _PARAMETERS.items()
    }
    headers = {
        "Content-Crs": ("Coordinate system of the geometry in the body.", _SYSTEM),
        "If-Match": ("Change it only if its entity tag is still one of these.", STRING),
    }
    for name, (text, schema) in headers.items():
        parameters[name] = {"name": name, "in": "header", "description": text, "schema": schema}
    return parameters


def _refusal_component(text: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": text, "content": {"application/json": {"schema": schema}}}
