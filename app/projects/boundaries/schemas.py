"""Request and response schemas of boundaries and of checks of geometries."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from marshmallow import fields, post_load, pre_load

from app.api.openapi.geojson import BARE_GEOMETRY
from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import ResourceId
from app.api.resource_schemas import Geometry
from app.api.schemas import MetaSchema, TotalMetaSchema
from app.geometry import PROBLEM_CODES
from app.geometry.warnings import WARNING_CODES
from app.policy.request_limits import BOUNDARY_SOURCES
from app.projects.boundaries.validation import geometry_report
from app.values.schemas import Choice, InputSchema, StrictBoolean

_COMPLETE: Final = {
    "description": "False if there was no time to compare all projects that could overlap; the "
    "largest overlaps may be missing then, too."
}


class BoundaryAuthorSchema(OutputSchema):
    """A person; for an API key or service token, the person who created it."""

    id = fields.String()
    email = fields.String()


class BoundarySchema(OutputSchema):
    """A boundary that a project has or has had.

    The author of a change made with SQL is unknown.
    """

    example: ClassVar = {
        "id": "bnd_01k9zr2c6hw4v8n1mx5t7d3qbe",
        "area_hectares": 35692.7657,
        "added_hectares": 112.4051,
        "removed_hectares": 3.0216,
        "source": "dashboard",
        "created_at": "2026-01-03T10:20:30.456Z",
        "created_by": {"id": "user_01k9zq1b5c7x2m4v8n6t3w0qfd", "email": "ada@example.org"},
        "replaced_at": None,
    }

    id = fields.String()
    area_hectares = fields.Float()
    added_hectares = fields.Float(
        allow_none=True,
        metadata={
            "description": "The area gained over the previous boundary; null if comparing them "
            "would have taken too long."
        },
    )
    removed_hectares = fields.Float(
        allow_none=True, metadata={"description": "The area lost; null as above."}
    )
    source = Choice("BoundarySource", BOUNDARY_SOURCES, metadata={"description": "How it was set."})
    created_at = fields.DateTime()
    created_by = fields.Nested(
        BoundaryAuthorSchema,
        allow_none=True,
        metadata={"description": "Who set it; null if unknown."},
    )
    replaced_at = fields.DateTime(
        allow_none=True, metadata={"description": "Null for the present boundary."}
    )


class BoundaryWithGeometrySchema(BoundarySchema):
    """A boundary that a project has or has had, with its geometry."""

    example: ClassVar = BoundarySchema.example | {
        "geometry": {
            "type": "Polygon",
            "coordinates": [[[8.1, 48.1], [8.2, 48.1], [8.2, 48.2], [8.1, 48.1]]],
        }
    }

    geometry = Geometry(
        allow_none=True, metadata={"description": "Null if it is lost because SQL overwrote it."}
    )


class GeometryCheckSchema(InputSchema):
    """A geometry to check."""

    example: ClassVar = {
        "geometry": {
            "type": "Polygon",
            "coordinates": [[[8.1, 48.1], [8.2, 48.1], [8.2, 48.2], [8.1, 48.2]]],
        }
    }
    also: ClassVar = BARE_GEOMETRY

    geometry = fields.Raw(
        required=True,
        allow_none=True,
        metadata={"description": "A GeoJSON geometry, valid or not."},
    )

    overlaps = StrictBoolean(
        metadata={
            "description": "Compare a valid geometry with the account's projects, as "
            "`GET /v1/projects/{project_id}/overlaps` does."
        },
    )
    project_id = ResourceId(
        "project",
        allow_none=True,
        metadata={"description": "The project whose new boundary it is: left out of `overlaps`."},
    )

    @pre_load
    def _wrap_bare_geometry(self, data: Any, **_: Any) -> Any:
        bare = isinstance(data, dict) and "coordinates" in data and "geometry" not in data
        return {"geometry": data} if bare else data

    @post_load
    def _check(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Check the geometry here: the turn of a large body ends once it is loaded."""
        report, boundary = geometry_report(data["geometry"])
        return {"report": report, "boundary": boundary} | data


class PlacedProblemSchema(OutputSchema):
    """A problem or warning, and its place."""

    code = fields.String()
    message = fields.String()
    part = fields.Integer(allow_none=True)
    ring = fields.Integer(allow_none=True)
    position = fields.Integer(allow_none=True)
    coordinates = fields.List(fields.Float(), allow_none=True)


class GeometryProblemSchema(PlacedProblemSchema):
    """One problem of a geometry. Indices count from 0, and are null where they do not apply."""

    optional: ClassVar = ("fix",)

    code = Choice("GeometryProblemCode", sorted(PROBLEM_CODES))
    fix = fields.Dict(
        metadata={
            "description": "In the first problem, if edges over ±180 are the only ones: the "
            "geometry split there, as a valid MultiPolygon without heights."
        }
    )


class GeometryWarningSchema(PlacedProblemSchema):
    """Something unusual in a valid geometry, with its place as in a problem. Warnings do not
    reject it."""

    code = Choice("GeometryWarningCode", sorted(WARNING_CODES))


class OverlapSchema(OutputSchema):
    """A project whose area overlaps."""

    example: ClassVar = {
        "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
        "name": "Cottage Grove District",
        "overlap_hectares": 12.3456,
        "share": 0.080512,
    }

    project_id = fields.String()
    name = fields.String()
    overlap_hectares = fields.Float()
    share = fields.Float(
        metadata={"description": "The part of the project or geometry that overlaps, from 0 to 1."}
    )


class OverlapsMetaSchema(TotalMetaSchema):
    example: ClassVar = {"complete": True}

    complete = fields.Boolean(metadata=_COMPLETE)


class GeometryReportMetaSchema(MetaSchema):
    optional: ClassVar = ("complete",)

    complete = fields.Boolean(metadata=_COMPLETE)


class GeometryReportSchema(OutputSchema):
    """The result of a check: validity, area, problems and warnings; overlaps if requested."""

    example: ClassVar = {
        "valid": False,
        "area_hectares": None,
        "problems": [
            {
                "code": "not_closed",
                "message": "Ring 0, position 3 differs from the first position. "
                "Close the ring: repeat the first position as the last.",
                "part": None,
                "ring": 0,
                "position": 3,
                "coordinates": [8.1, 48.2],
            }
        ],
        "warnings": [],
    }

    optional: ClassVar = ("overlaps",)

    valid = fields.Boolean()
    area_hectares = fields.Float(allow_none=True)
    problems = fields.List(fields.Nested(GeometryProblemSchema))
    warnings = fields.List(
        fields.Nested(GeometryWarningSchema),
        metadata={
            "description": "Of a valid geometry, at most 100; the first of each code come first."
        },
    )
    overlaps = fields.List(fields.Nested(OverlapSchema))
