"""Schemas of GeoJSON responses, for the documentation only: they do not serialize."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import marshmallow as ma
from marshmallow import fields, validate

from app.api.openapi.geojson import GEOJSON
from app.api.openapi.schemas import OutputSchema, example_of
from app.formats.writers.features import FeatureType

_TIME: Final = "2026-01-02T03:04:05.690Z"
_NEXT: Final = {
    "rel": "next",
    "type": GEOJSON,
    "href": "https://canopy.example.org/v1/projects?format=geojson&page=2",
}


class PropertiesSchema(OutputSchema):
    """Known properties, and any others."""

    class Meta(OutputSchema.Meta):
        unknown = ma.INCLUDE


class LinkSchema(OutputSchema):
    """A link of a FeatureCollection."""

    rel = fields.String(validate=validate.OneOf(("prev", "next")))
    type = fields.String()
    href = fields.String()


def geojson_of(schema: type[ma.Schema] | None, features: FeatureType) -> type[ma.Schema]:
    """The schema of the Feature or FeatureCollection that replaces an envelope.

    Args:
        schema: the schema of the envelope.
        features: how a record becomes a Feature.
    """
    assert schema is not None
    data: Any = schema._declared_fields["data"]
    if isinstance(data, fields.List):
        return _features_of(data.inner.nested, features)  # type: ignore[attr-defined]
    return _feature_of(data.nested, features)


@cache
def _feature_of(schema: type[ma.Schema], features: FeatureType) -> type[ma.Schema]:
    name = schema.__name__.removesuffix("Schema")
    declared = schema._declared_fields
    properties = {field.name: declared[field.name] for field in features.property_fields}
    nested = PropertiesSchema.from_dict(properties, name=f"{name}PropertiesSchema")
    # A client can ask for some fields only.
    nested.optional = properties.keys() - {"id"}  # type: ignore[attr-defined]
    nested.__doc__ = "The other fields, and the keys of `metadata`."
    members: dict[str, fields.Field[Any]] = {
        "type": fields.String(metadata={"const": "Feature"}),
        "id": fields.String(),
        "geometry": declared[features.geometry.name],
        "properties": fields.Nested(nested),
    }
    example = features.feature(example_of(schema)).as_geojson()
    return _feature_schema(f"{name}Feature", "A GeoJSON Feature (RFC 7946).", members, example)


@cache
def _features_of(schema: type[ma.Schema], features: FeatureType) -> type[ma.Schema]:
    name = schema.__name__.removesuffix("Schema")
    feature = _feature_of(schema, features)
    members: dict[str, fields.Field[Any]] = {
        "type": fields.String(metadata={"const": "FeatureCollection"}),
        "features": fields.List(fields.Nested(feature)),
        "numberMatched": fields.Integer(metadata={"minimum": 0}),
        "numberReturned": fields.Integer(metadata={"minimum": 0}),
        "timeStamp": fields.DateTime(),
        "links": fields.List(fields.Nested(LinkSchema)),
    }
    example = {
        "type": "FeatureCollection",
        "features": [example_of(feature)],
        "numberMatched": 21,
        "numberReturned": 1,
        "timeStamp": _TIME,
        "links": [_NEXT],
    }
    text = "A GeoJSON FeatureCollection (RFC 7946) of a page, with the members of OGC API Features."
    return _feature_schema(f"{name}FeatureCollection", text, members, example)


def _feature_schema(
    name: str, text: str, members: dict[str, fields.Field[Any]], example: Any
) -> type[ma.Schema]:
    schema = OutputSchema.from_dict(members, name=f"{name}Schema")
    schema.__doc__ = text
    schema.example = example  # type: ignore[attr-defined]
    return schema
