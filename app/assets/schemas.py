"""What comes in and goes out of the routes of assets."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields

from app.api.fields import BoundingBox, JsonObject, Keyword, Location, PageQuerySchema
from app.api.schemas import OutputSchema
from app.assets import examples
from app.policy import bounds
from app.values.fields import InputSchema, Text

_TYPES = {"description": "Any word; documented are " + ", ".join(bounds.ASSET_TYPES) + "."}
_STATUSES = {"description": "Any word; documented are " + ", ".join(bounds.ASSET_STATUSES) + "."}


class AssetSchema(OutputSchema):
    """Something inside a project."""

    example: ClassVar = examples.ASSET

    id = fields.String(required=True)
    project_id = fields.String(required=True)
    name = fields.String(required=True)
    type = fields.String(required=True, metadata=_TYPES)
    location = Location(required=True, allow_none=True)
    status = fields.String(required=True, metadata=_STATUSES)
    metadata = fields.Dict(required=True, allow_none=True)
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)


class AssetInputSchema(InputSchema):
    """The fields of an asset that a client can send back, and cannot set."""

    id = fields.String(dump_only=True)
    project_id = fields.String(dump_only=True)
    created_at = fields.DateTime(dump_only=True)
    updated_at = fields.DateTime(dump_only=True)


class AssetCreateSchema(AssetInputSchema):
    """A new asset."""

    example: ClassVar = examples.ASSET_BODY

    name = Text(shortest=1, longest=bounds.NAME_LENGTH, required=True)
    type = Keyword(required=True, metadata=_TYPES)
    location = Location(allow_none=True)
    status = Keyword(metadata=_STATUSES)
    metadata = JsonObject(allow_none=True, data_key="metadata", attribute="metadata_json")


class AssetUpdateSchema(AssetInputSchema):
    """The fields to change; those left out stay, null clears."""

    example: ClassVar = examples.ASSET_CHANGE

    name = Text(shortest=1, longest=bounds.NAME_LENGTH)
    type = Keyword(metadata=_TYPES)
    location = Location(allow_none=True)
    status = Keyword(metadata=_STATUSES)
    metadata = JsonObject(allow_none=True, data_key="metadata", attribute="metadata_json")


class AssetQuerySchema(PageQuerySchema):
    """Which assets of the project; the newest first."""

    type = Keyword(metadata=_TYPES)
    status = Keyword(metadata=_STATUSES)
    search = Text(
        longest=bounds.SEARCH_LENGTH, metadata={"description": "Part of the name, in any case."}
    )
    bbox = BoundingBox()
