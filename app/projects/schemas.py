"""What comes in and goes out of the routes of projects."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import fields, pre_load, validate

from app.api.fields import BoundingBox, Geometry, PageQuerySchema
from app.api.schemas import OutputSchema
from app.geometry import PROBLEM_CODES
from app.policy import bounds
from app.projects import examples
from app.values.fields import InputSchema, ReadOnlyHere, Text


class ProjectSchema(OutputSchema):
    """A forest area."""

    example: ClassVar = examples.PROJECT

    id = fields.String(required=True)
    name = fields.String(required=True)
    slug = fields.String(required=True, metadata={"description": "Made from the name; stays."})
    description = fields.String(required=True, allow_none=True)
    geometry = Geometry(required=True, allow_none=True)
    area_hectares = fields.Float(
        required=True, allow_none=True, metadata={"description": "Geodesic, on WGS84."}
    )
    status = fields.String(required=True, validate=validate.OneOf(bounds.PROJECT_STATUSES))
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)


class ProjectInputSchema(InputSchema):
    """The fields of a project that a client can send back, and cannot set."""

    id = fields.String(dump_only=True)
    slug = fields.String(dump_only=True)
    area_hectares = fields.Float(dump_only=True, allow_none=True)
    created_at = fields.DateTime(dump_only=True)
    updated_at = fields.DateTime(dump_only=True)


class ProjectCreateSchema(ProjectInputSchema):
    """A new project."""

    example: ClassVar = examples.PROJECT_BODY

    name = Text(shortest=1, longest=bounds.NAME_LENGTH, required=True)
    description = Text(longest=bounds.DESCRIPTION_LENGTH, allow_none=True)
    geometry = Geometry(allow_none=True)
    status = ReadOnlyHere("A new project is active; leave `status` out, and change it afterwards.")


class ProjectUpdateSchema(ProjectInputSchema):
    """The fields to change; those left out stay, null clears."""

    example: ClassVar = examples.PROJECT_CHANGE

    name = Text(shortest=1, longest=bounds.NAME_LENGTH)
    description = Text(longest=bounds.DESCRIPTION_LENGTH, allow_none=True)
    geometry = Geometry(allow_none=True)
    status = fields.String(validate=validate.OneOf(bounds.PROJECT_STATUSES))


class ProjectQuerySchema(PageQuerySchema):
    """Which projects, and in which order."""

    status = fields.String(validate=validate.OneOf(bounds.PROJECT_STATUSES))
    search = Text(
        longest=bounds.SEARCH_LENGTH,
        metadata={"description": "Part of the name or the description, in any case."},
    )
    sort = fields.String(validate=validate.OneOf(bounds.PROJECT_SORTS), load_default="created_at")
    order = fields.String(
        validate=validate.OneOf(("asc", "desc")),
        metadata={"description": "Without it: newest first by `created_at`, else ascending."},
    )
    bbox = BoundingBox()


class GeometryCheckSchema(InputSchema):
    """A geometry to check: as the member ``geometry``, or as the body itself."""

    example: ClassVar = {"geometry": examples.OPEN_RING}
    also: ClassVar = {
        "type": "object",
        "description": "The geometry itself.",
        "properties": {"type": {"type": "string"}, "coordinates": {"type": "array"}},
        "required": ["type", "coordinates"],
    }

    geometry = fields.Raw(
        required=True,
        allow_none=True,
        metadata={"description": "A GeoJSON geometry, right or wrong."},
    )

    @pre_load
    def _take_bare_geometry(self, data: Any, **_: Any) -> Any:
        bare = isinstance(data, dict) and "coordinates" in data and "geometry" not in data
        return {"geometry": data} if bare else data


class GeometryProblemSchema(OutputSchema):
    """One fault; the indices count from 0 and are null where they make no sense."""

    code = fields.String(required=True, validate=validate.OneOf(sorted(PROBLEM_CODES)))
    message = fields.String(required=True)
    part = fields.Integer(required=True, allow_none=True)
    ring = fields.Integer(required=True, allow_none=True)
    position = fields.Integer(required=True, allow_none=True)
    coordinates = fields.List(fields.Float(), required=True, allow_none=True)


class GeometryReportSchema(OutputSchema):
    """Whether a geometry would be accepted, its area, and what is wrong with it."""

    example: ClassVar = examples.REPORT

    valid = fields.Boolean(required=True)
    area_hectares = fields.Float(required=True, allow_none=True)
    problems = fields.List(fields.Nested(GeometryProblemSchema), required=True)
