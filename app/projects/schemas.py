"""The bodies, queries and responses of the routes of projects.

Their fields are listed in ``app.policy.fields``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import fields, pre_load, validate

from app.api.fields import FieldNames, ListQuerySchema
from app.api.geojson import BARE_GEOMETRY
from app.api.resource_fields import create_fields, filter_fields, shown_fields, update_fields
from app.api.schemas import OutputSchema
from app.geometry import PROBLEM_CODES
from app.policy import bounds
from app.policy.fields import PROJECT
from app.projects import examples
from app.values.fields import Choice, InputSchema, ReadOnlyHere, Text


class ProjectSchema(OutputSchema):
    """A forest area."""

    example: ClassVar = examples.PROJECT

    class Meta(OutputSchema.Meta):
        include = shown_fields(PROJECT)


class ProjectCreateSchema(InputSchema):
    """A new project."""

    example: ClassVar = examples.PROJECT_BODY

    status = ReadOnlyHere("A new project is active; leave `status` out, and change it afterwards.")

    class Meta(InputSchema.Meta):
        include = create_fields(PROJECT)


class ProjectUpdateSchema(InputSchema):
    """The fields to change; those left out stay, null clears."""

    example: ClassVar = examples.PROJECT_CHANGE

    class Meta(InputSchema.Meta):
        include = update_fields(PROJECT)


class ProjectQuerySchema(ListQuerySchema):
    """Which projects, and in which order."""

    class Meta(ListQuerySchema.Meta):
        include = filter_fields(PROJECT)

    search = Text(
        longest=bounds.SEARCH_LENGTH,
        metadata={
            "description": "Part of the name or the description: these characters in this order, "
            "in upper or lower case. Accents count."
        },
    )
    sort = fields.String(
        validate=validate.OneOf(bounds.PROJECT_SORTS),
        load_default="created_at",
        metadata={"description": "What the list is sorted by."},
    )
    shown = FieldNames(PROJECT)


class GeometryCheckSchema(InputSchema):
    """A geometry to check: as the member ``geometry``, or as the body itself."""

    example: ClassVar = {"geometry": examples.OPEN_RING}
    also: ClassVar = BARE_GEOMETRY

    geometry = fields.Raw(
        required=True,
        allow_none=True,
        metadata={"description": "A GeoJSON geometry, right or wrong."},
    )

    @pre_load
    def _wrap_bare_geometry(self, data: Any, **_: Any) -> Any:
        bare = isinstance(data, dict) and "coordinates" in data and "geometry" not in data
        return {"geometry": data} if bare else data


class GeometryProblemSchema(OutputSchema):
    """One fault; the indices count from 0 and are null where they make no sense."""

    code = Choice("GeometryProblemCode", sorted(PROBLEM_CODES), required=True)
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
