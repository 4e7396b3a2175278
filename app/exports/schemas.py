"""The queries of exports: the filters of the lists, and the format of the file."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.api.fields import FilterQuerySchema, ProjectId, SearchText
from app.api.resource_fields import filter_fields
from app.exports.service import FORMATS
from app.policy.bounds import NAME_LENGTH
from app.policy.fields import ASSET, PROJECT
from app.values.fields import Text

_EUDR_ONLY = ("producer_name", "producer_country", "holes")
_ONLY = "Only for `format=eudr`: "


class _FormatOf(validate.OneOf):
    """One of the formats of a kind; the error says so if only the other kind has it."""

    def _format_error(self, value: Any) -> str:
        for kind, formats in FORMATS.items():
            if value in formats:
                return f"{value} is for {kind}."
        return super()._format_error(value)


def _format(kind: str) -> fields.String:
    return fields.String(
        validate=_FormatOf(FORMATS[kind]),
        load_default="geojson",
        metadata={"description": "Format of the file."},
    )


class ProjectExportQuerySchema(FilterQuerySchema):
    """Which projects, and in which format."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(PROJECT)

    format = _format("projects")
    search = SearchText("the name, the description or the external id")
    producer_name = Text(
        shortest=1,
        longest=NAME_LENGTH,
        metadata={"description": f"{_ONLY}`ProducerName` of plots whose metadata has none."},
    )
    producer_country = fields.String(
        validate=validate.Regexp(r"[A-Za-z]{2}\Z", error="Must be two letters (ISO 3166-1)."),
        metadata={
            "description": f"{_ONLY}`ProducerCountry` of plots whose metadata has none, as in ISO "
            "3166-1 alpha-2.",
            "pattern": "^[A-Za-z]{2}$",
        },
    )
    holes = fields.String(
        validate=validate.OneOf(("ignore",)),
        metadata={
            "description": f"{_ONLY}leaves out the holes of boundaries. Without it, an export with "
            "holes is rejected, because the Information System does not know them."
        },
    )

    @ma.validates_schema
    def _check_format(self, data: dict[str, Any], **_: Any) -> None:
        others = [name for name in _EUDR_ONLY if name in data]
        if others and data.get("format") != "eudr":
            raise ma.ValidationError({name: ["Only for format=eudr."] for name in others})


class AssetExportQuerySchema(FilterQuerySchema):
    """Which assets, and in which format."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(ASSET)

    format = _format("assets")
    search = SearchText("the name or the external id")
    project_id = ProjectId(metadata={"description": "Only assets of this project."})
