"""The schema of a collection (part 5) and its queryables (part 3), as JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from app.auth.principal import Principal
from app.http.urls import absolute_url
from app.ogc.collections import Collection
from app.ogc.columns import metadata_types
from app.policy.fields import Field
from app.policy.kinds import CHOICE, TEXT

SCHEMA: Final = "application/schema+json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def properties_schema(principal: Principal, collection: Collection) -> dict[str, Any]:
    """The properties of features: the fields, and the keys of the metadata."""
    described = {
        field.name: _describe_field(field, number)
        for number, field in enumerate(collection.type.property_fields, start=1)
    }
    for name, kind in metadata_types(principal, collection).items():
        described[name] = {"type": kind, "x-ogc-propertySeq": len(described) + 1}
    described["geometry"] = _geometry_property(collection)
    required = [field.name for field in collection.type.property_fields if field.required]
    return _schema_document(collection, "schema", described) | {
        "required": required,
        "additionalProperties": True,
    }


def queryables_schema(collection: Collection) -> dict[str, Any]:
    """The queryables of features: the fields, and the geometry."""
    fields = {field.name: field for field in collection.type.property_fields}
    described: dict[str, Any] = {name: parameter_schema(fields[name]) for name in fields}
    described["geometry"] = _geometry_property(collection)
    return _schema_document(collection, "queryables", described) | {"additionalProperties": False}


def parameter_schema(field: Field) -> dict[str, Any]:
    """The type of a field."""
    # Without null, as QGIS and GDAL know a type only if it is one word.
    described = dict(field.kind.schema)
    if field.kind is CHOICE:
        described["enum"] = list(field.choices)
    return described | ({"description": field.description} if field.description else {})


def _schema_document(
    collection: Collection, name: str, properties: dict[str, Any]
) -> dict[str, Any]:
    return {
        "$schema": _DIALECT,
        "$id": absolute_url(f"{collection.path}/{name}"),
        "type": "object",
        "title": collection.title,
        "properties": properties,
    }


def _describe_field(field: Field, number: int) -> dict[str, Any]:
    described = parameter_schema(field) | {"x-ogc-propertySeq": number}
    if field.writable == "never" and field.name != "project_id":  # a new asset sets it
        described["readOnly"] = True
    if field.name == "id":
        described["x-ogc-role"] = "id"
    if field.kind is TEXT and field.longest and field.writable != "never":
        described["maxLength"] = field.longest
    return described


def _geometry_property(collection: Collection) -> dict[str, Any]:
    kind = f"geometry-{collection.geometry.lower()}"
    return {"x-ogc-role": "primary-geometry", "format": kind}
