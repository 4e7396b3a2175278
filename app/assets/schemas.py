"""Request, query and response schemas of assets.

Their fields are listed in ``app.policy.fields``.
"""

from __future__ import annotations

from typing import ClassVar

from marshmallow import validate
from marshmallow.fields import String

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import (
    FieldNames,
    FilterQuerySchema,
    ListQuerySchema,
    ResourceId,
    SearchText,
)
from app.api.resource_schemas import create_fields, filter_fields, shown_fields, update_fields
from app.policy import request_limits
from app.policy.fields import ASSET
from app.values.schemas import InputSchema


class AssetSchema(OutputSchema):
    """Equipment, a station or a point of interest in a project."""

    example: ClassVar = {field.name: field.example for field in ASSET}

    class Meta(OutputSchema.Meta):
        include = shown_fields(ASSET)


class AssetCreateSchema(InputSchema):
    """A new asset."""

    example: ClassVar = {
        field.name: field.example
        for field in ASSET
        if field.writable == "always" and field.name != "status"  # a new asset is active without it
    }

    class Meta(InputSchema.Meta):
        include = create_fields(ASSET)


class AssetUpdateSchema(InputSchema):
    """The fields to change. Fields that you leave out stay as they are; null clears a field."""

    example: ClassVar = {"status": "maintenance"}

    class Meta(InputSchema.Meta):
        include = update_fields(ASSET)


class AssetFiltersSchema(FilterQuerySchema):
    """The filters of assets."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(ASSET)

    search = SearchText("the name or the external id")


class AssetQuerySchema(AssetFiltersSchema, ListQuerySchema):
    """The filters, order and page of a list of a project's assets."""

    sort = String(
        validate=validate.OneOf(request_limits.ASSET_SORTS),
        load_default="created_at",
        metadata={"description": "Field to sort by."},
    )
    field_names = FieldNames(ASSET)


class AccountAssetQuerySchema(AssetQuerySchema):
    """The filters, order and page of a list of all assets."""

    project_id = ResourceId("project", metadata={"description": "Only assets of this project."})
