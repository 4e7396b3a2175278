"""The query of a map, and its FeatureCollection."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from marshmallow import fields

from app.api.openapi.geojson import GEOJSON
from app.api.openapi.schemas import OutputSchema
from app.policy.request_limits import MAP_FEATURES, MAP_ZOOM, PROJECT_STATUSES
from app.projects.schemas import ProjectFiltersSchema
from app.values.schemas import Choice, QueryInteger

_SHAPE: Final[dict[str, Any]] = {
    "description": "For drawing only: simplified, perhaps not valid.",
    "oneOf": [
        {"$ref": f"#/components/schemas/{kind}"} for kind in ("Point", "Polygon", "MultiPolygon")
    ],
}
_EXAMPLE: Final = {
    "type": "Feature",
    "id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
    "geometry": {
        "type": "Polygon",
        "coordinates": [[[8.2, 48.5], [8.3, 48.5], [8.3, 48.6], [8.2, 48.5]]],
    },
    "properties": {
        "id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
        "name": "Upper Valley",
        "status": "active",
        "area_hectares": 4098.4125,
    },
}


class MapQuerySchema(ProjectFiltersSchema):
    """The box and the zoom of a map, and the filters of its projects."""

    zoom = QueryInteger(
        low=0,
        high=MAP_ZOOM,
        required=True,
        metadata={
            "description": "Zoom of the map, on which the world is a square of "
            "256 · 2^`zoom` pixels (Web Mercator).",
            "examples": [8],
        },
    )


class MapPropertiesSchema(OutputSchema):
    """The properties of a project on a map."""

    id = fields.String()
    name = fields.String()
    status = Choice("ProjectStatus", PROJECT_STATUSES)
    area_hectares = fields.Float()


class MapFeatureSchema(OutputSchema):
    """A project on a map."""

    example: ClassVar = _EXAMPLE

    type = fields.String(metadata={"const": "Feature"})
    id = fields.String()
    geometry = fields.Raw(metadata=_SHAPE)
    properties = fields.Nested(MapPropertiesSchema)


def _count_field(description: str) -> fields.Integer:
    return fields.Integer(metadata={"minimum": 0, "description": description})


class MapSchema(OutputSchema):
    """A GeoJSON FeatureCollection (RFC 7946) of the largest projects, the largest first."""

    optional: ClassVar = ("bbox",)
    content_type: ClassVar = GEOJSON
    example: ClassVar = {
        "type": "FeatureCollection",
        "bbox": [8.2, 48.5, 8.3, 48.6],
        "features": [_EXAMPLE],
        "numberMatched": 1,
        "numberReturned": 1,
    }

    type = fields.String(metadata={"const": "FeatureCollection"})
    bbox = fields.List(
        fields.Float(),
        metadata={
            "description": "The box around these features, with their whole boundaries: west, "
            "south, east, north (RFC 7946, section 5). West is greater than east if it crosses "
            "the antimeridian. Without features there is none."
        },
    )
    features = fields.List(fields.Nested(MapFeatureSchema))
    numberMatched = _count_field("The number of projects in `bbox`.")
    numberReturned = _count_field(f"The number of these features, at most {MAP_FEATURES:,}.")
