"""Request, query and response schemas of projects.

Their fields are listed in ``app.policy.fields``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import FieldNames, FilterQuerySchema, ListQuerySchema, SearchText
from app.api.resource_schemas import create_fields, filter_fields, shown_fields, update_fields
from app.policy import kinds, request_limits
from app.policy.fields import PROJECT
from app.values.schemas import InputSchema, ReadOnlyHere

# Cottage Grove Ranger District of the Umpqua National Forest, from the Forest Service's map.
_DISTRICT: Final[dict[str, Any]] = {
    "type": "Polygon",
    "coordinates": [
        [
            [-122.67096335999997, 43.79732169],
            [-122.74473307, 43.78474236],
            [-122.75140270000003, 43.558381259999976],
            [-122.78196294999998, 43.53721359999997],
            [-122.76121251, 43.5163356],
            [-122.69157308000001, 43.53322497],
            [-122.65382402, 43.58503022999997],
            [-122.62562014999997, 43.57858187],
            [-122.60564115, 43.597732940000014],
            [-122.56474054, 43.58065224],
            [-122.52893569999998, 43.61659058999999],
            [-122.56524443, 43.63999633999998],
            [-122.56797876000002, 43.70707029],
            [-122.59114753, 43.72028452],
            [-122.59406130000002, 43.74245301000002],
            [-122.67096335999997, 43.79732169],
        ]
    ],
}


class ProjectSchema(OutputSchema):
    """A forest area with its boundary."""

    example: ClassVar = {
        field.name: _DISTRICT if field.kind is kinds.BOUNDARY else field.example
        for field in PROJECT
    }

    class Meta(OutputSchema.Meta):
        include = shown_fields(PROJECT)


class ProjectCreateSchema(InputSchema):
    """A new project."""

    example: ClassVar = {
        field.name: ProjectSchema.example[field.name]
        for field in PROJECT
        if field.writable == "always"
    }

    status = ReadOnlyHere("A new project is active; leave `status` out, and change it afterwards.")

    class Meta(InputSchema.Meta):
        include = create_fields(PROJECT)


class ProjectUpdateSchema(InputSchema):
    """The fields to change. Fields that you leave out stay as they are; null clears a field."""

    example: ClassVar = {"description": "Umpqua National Forest, Oregon"}

    class Meta(InputSchema.Meta):
        include = update_fields(PROJECT)


class ProjectFiltersSchema(FilterQuerySchema):
    """The filters of projects."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(PROJECT)

    search = SearchText("the name, the description or the external id")


class ProjectQuerySchema(ProjectFiltersSchema, ListQuerySchema):
    """The filters, order and page of a list of projects."""

    sort = fields.String(
        validate=validate.OneOf(request_limits.PROJECT_SORTS),
        load_default="created_at",
        metadata={
            "description": "Field to sort by. Names sort by code point without regard to case."
        },
    )
    field_names = FieldNames(PROJECT)
