"""The bodies, queries and responses of the routes of projects.

Their fields are listed in ``app.policy.fields``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import fields, post_load, pre_load, validate

from app.api.fields import FieldNames, ListQuerySchema, SearchText
from app.api.resource_fields import create_fields, filter_fields, shown_fields, update_fields
from app.api.schemas import OutputSchema
from app.geometry import PROBLEM_CODES
from app.openapi.geojson import BARE_GEOMETRY
from app.policy import bounds
from app.policy.fields import PROJECT
from app.projects import examples
from app.projects.validation import geometry_report
from app.values.fields import Choice, InputSchema, ReadOnlyHere


class ProjectSchema(OutputSchema):
    """A forest area with its boundary."""

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
    """The fields to change. Fields that you leave out stay as they are; null clears a field."""

    example: ClassVar = examples.PROJECT_CHANGE

    class Meta(InputSchema.Meta):
        include = update_fields(PROJECT)


class ProjectQuerySchema(ListQuerySchema):
    """Which projects, and in which order."""

    class Meta(ListQuerySchema.Meta):
        include = filter_fields(PROJECT)

    search = SearchText("the name or the description")
    sort = fields.String(
        validate=validate.OneOf(bounds.PROJECT_SORTS),
        load_default="created_at",
        metadata={"description": "Field to sort by."},
    )
    shown = FieldNames(PROJECT)


class GeometryCheckSchema(InputSchema):
    """A geometry to check."""

    example: ClassVar = {"geometry": examples.OPEN_RING}
    also: ClassVar = BARE_GEOMETRY

    geometry = fields.Raw(
        required=True,
        allow_none=True,
        metadata={"description": "A GeoJSON geometry, valid or not."},
    )

    @pre_load
    def _wrap_bare_geometry(self, data: Any, **_: Any) -> Any:
        bare = isinstance(data, dict) and "coordinates" in data and "geometry" not in data
        return {"geometry": data} if bare else data

    @post_load
    def _check(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Checked here and not in the view: the turn of a large body ends once it is loaded."""
        return {"report": geometry_report(data["geometry"])}


class GeometryProblemSchema(OutputSchema):
    """One problem of a geometry. Indices count from 0, and are null where they do not apply."""

    code = Choice("GeometryProblemCode", sorted(PROBLEM_CODES), required=True)
    message = fields.String(required=True)
    part = fields.Integer(required=True, allow_none=True)
    ring = fields.Integer(required=True, allow_none=True)
    position = fields.Integer(required=True, allow_none=True)
    coordinates = fields.List(fields.Float(), required=True, allow_none=True)


class GeometryReportSchema(OutputSchema):
    """Whether a geometry is valid, its area, and its problems."""

    example: ClassVar = examples.REPORT

    valid = fields.Boolean(required=True)
    area_hectares = fields.Float(required=True, allow_none=True)
    problems = fields.List(fields.Nested(GeometryProblemSchema), required=True)
