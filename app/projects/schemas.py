"""The bodies, queries and responses of the routes of projects.

Their fields are listed in ``app.policy.fields``.
"""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields, validate

from app.api.fields import FieldNames, ListQuerySchema, SearchText
from app.api.openapi.schemas import OutputSchema
from app.api.resource_fields import create_fields, filter_fields, shown_fields, update_fields
from app.policy import bounds
from app.policy.fields import PROJECT
from app.projects import examples
from app.values.fields import InputSchema, ReadOnlyHere


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
