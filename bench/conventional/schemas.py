"""What a body may hold, and what an answer shows."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from pyproj import Geod
from shapely import is_valid_reason
from shapely.errors import ShapelyError
from shapely.geometry import shape

_GEOD = Geod(ellps="WGS84")


class ProjectSchema(ma.Schema):
    id = ma.fields.String(dump_only=True)
    name = ma.fields.String(required=True, validate=ma.validate.Length(1, 200))
    description = ma.fields.String(allow_none=True, validate=ma.validate.Length(max=10_000))
    status = ma.fields.String(dump_only=True)
    geometry = ma.fields.Dict(allow_none=True)
    area_hectares = ma.fields.Float(dump_only=True)
    created_at = ma.fields.DateTime(dump_only=True)
    updated_at = ma.fields.DateTime(dump_only=True)

    @ma.post_load
    def _measure(self, values: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Check the boundary, and add its area."""
        if values.get("geometry") is not None:
            values["area_hectares"] = area_hectares(values["geometry"])
        return values


def area_hectares(geometry: dict[str, Any]) -> float:
    """The geodesic area of a boundary. Raises ValidationError when it is not valid."""
    if geometry.get("type") not in ("Polygon", "MultiPolygon"):
        raise ma.ValidationError("Must be a Polygon or a MultiPolygon.", "geometry")
    try:
        boundary = shape(geometry)
    except (ShapelyError, KeyError, TypeError, ValueError) as error:
        raise ma.ValidationError("Must be a GeoJSON geometry.", "geometry") from error
    if not boundary.is_valid:
        raise ma.ValidationError(is_valid_reason(boundary), "geometry")
    area, _ = _GEOD.geometry_area_perimeter(boundary)
    return abs(float(area)) / 10_000
