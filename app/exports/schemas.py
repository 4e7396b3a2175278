"""Queries of exports: the filters of the lists, the format, and options for the EUDR."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.api.query_schemas import FilterQuerySchema, ProjectId, SearchText
from app.api.resource_schemas import filter_fields
from app.eudr.schemas import EudrProjectsQuerySchema, EudrQuerySchema
from app.exports.service import FORMATS
from app.policy import eudr
from app.policy.fields import ASSET, PROJECT


class _FormatOf(validate.OneOf):
    """One of the formats of a kind; the error says if only the other kind has it."""

    def _format_error(self, value: Any) -> str:
        for kind, formats in FORMATS.items():
            if value in formats:
                return f"{value} is for {kind}."
        return super()._format_error(value)


def _format_field(kind: str) -> fields.String:
    return fields.String(
        validate=_FormatOf(FORMATS[kind]),
        load_default="geojson",
        metadata={"description": "Format of the file."},
    )


class _ExportQuerySchema(FilterQuerySchema):
    """Filters of records, and the format."""

    @ma.validates_schema
    def _check_format(self, data: dict[str, Any], **_: Any) -> None:
        is_eudr = data.get("format") == "eudr"
        others = [name for name in EudrProjectsQuerySchema().fields if name in data]
        if others and not is_eudr:
            raise ma.ValidationError({name: ["Only for format=eudr."] for name in others})
        if is_eudr and data.get("type", eudr.PLOT_TYPE) != eudr.PLOT_TYPE:
            message = f"Only assets of type {eudr.PLOT_TYPE} are plots. Leave type out."
            raise ma.ValidationError({"type": [message]})


class ProjectExportQuerySchema(_ExportQuerySchema, EudrProjectsQuerySchema):
    """Filters of projects, and the format."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(PROJECT)

    format = _format_field("projects")
    search = SearchText("the name, the description or the external id")


class AssetExportQuerySchema(_ExportQuerySchema, EudrQuerySchema):
    """Filters of assets, and the format."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(ASSET)

    format = _format_field("assets")
    search = SearchText("the name or the external id")
    project_id = ProjectId(metadata={"description": "Only assets of this project."})
