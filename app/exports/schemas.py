"""Queries of exports: the filters of the lists, the format, and options for the EUDR."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.api.query_schemas import ResourceId
from app.assets.schemas import AssetFiltersSchema
from app.eudr.schemas import EudrProjectsQuerySchema, EudrQuerySchema
from app.exports.service import FORMATS
from app.policy import eudr
from app.policy.files import EUDR_FORMATS
from app.projects.schemas import ProjectFiltersSchema
from app.values.messages import CodedMessage, invalid
from app.values.schemas import QuerySchema


class _FormatOf(validate.OneOf):
    """One of the formats of a kind; the error says if only the other kind has it."""

    def _format_error(self, value: Any) -> str:
        for kind, formats in FORMATS.items():
            if value in formats:
                return CodedMessage(f"{value} is for {kind}.", "not_one_of")
        return super()._format_error(value)


def _format_field(kind: str) -> fields.String:
    return fields.String(
        validate=_FormatOf(FORMATS[kind]),
        load_default="geojson",
        metadata={"description": "Format of the file."},
    )


class _ExportQuerySchema(QuerySchema):
    """The format, and what it allows."""

    @ma.validates_schema
    def _check_format(self, data: dict[str, Any], **_: Any) -> None:
        is_eudr = data.get("format") in EUDR_FORMATS
        others = [name for name in EudrProjectsQuerySchema().fields if name in data]
        if data.get("format") == "eudr_simplified":
            others = [name for name in others if name in ("divide", "variant")]
        if others and data.get("format") != "eudr":
            only = CodedMessage("Only for format=eudr.", "unknown")
            raise ma.ValidationError({name: [only] for name in others})
        if is_eudr and data.get("type", eudr.PLOT_TYPE) != eudr.PLOT_TYPE:
            message = f"Only assets of type {eudr.PLOT_TYPE} are plots. Leave type out."
            raise invalid(message, "not_one_of", "type")


class ProjectExportQuerySchema(ProjectFiltersSchema, _ExportQuerySchema, EudrProjectsQuerySchema):
    """Filters of projects, and the format."""

    format = _format_field("projects")


class AssetExportQuerySchema(AssetFiltersSchema, _ExportQuerySchema, EudrQuerySchema):
    """Filters of assets, and the format."""

    format = _format_field("assets")
    project_id = ResourceId("project", metadata={"description": "Only assets of this project."})
