"""What a body may hold, and what an answer shows."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from shapely import is_valid_reason
from shapely.errors import ShapelyError
from shapely.geometry import shape


class ProjectSchema(ma.Schema):
    id = ma.fields.String(dump_only=True)
    name = ma.fields.String(required=True, validate=ma.validate.Length(1, 200))
    description = ma.fields.String(allow_none=True, validate=ma.validate.Length(max=10_000))
    status = ma.fields.String(dump_only=True)
    geometry = ma.fields.Dict(allow_none=True)
    area_hectares = ma.fields.Float(dump_only=True)
    created_at = ma.fields.DateTime(dump_only=True)
    updated_at = ma.fields.DateTime(dump_only=True)

    @ma.validates("geometry")
    def _check_geometry(self, value: dict[str, Any] | None, **_: Any) -> None:
        if value is None:
            return
        if value.get("type") not in ("Polygon", "MultiPolygon"):
            raise ma.ValidationError("Must be a Polygon or a MultiPolygon.")
        try:
            boundary = shape(value)
        except (ShapelyError, KeyError, TypeError, ValueError) as error:
            raise ma.ValidationError("Must be a GeoJSON geometry.") from error
        if not boundary.is_valid:
            raise ma.ValidationError(is_valid_reason(boundary))
