"""Queries of exports: the filters of the lists, the format, and options for the EUDR."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.api.query_schemas import FilterQuerySchema, ProjectId, SearchText
from app.api.resource_schemas import filter_fields
from app.exports.service import FORMATS
from app.formats.writers.eudr_plots import country_error
from app.policy import eudr
from app.policy.countries import COUNTRY_CODES
from app.policy.fields import ASSET, PROJECT
from app.policy.request_limits import NAME_LENGTH
from app.values.schemas import QueryBoolean, QueryInteger, QuerySchema, Text

_ONLY = "For the EUDR: "


class _FormatOf(validate.OneOf):
    """One of the formats of a kind; the error says if only the other kind has it."""

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


class ProducerCountry(Text):
    """The code of a country, in upper or lower case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(shortest=2, longest=2, **options)

    def _deserialize(self, *args: Any, **values: Any) -> str:
        code = str(super()._deserialize(*args, **values)).upper()
        if code not in COUNTRY_CODES:
            raise ma.ValidationError(country_error(code))
        return code


class EudrQuerySchema(QuerySchema):
    """Options of a file for the EUDR."""

    producer_name = Text(
        shortest=1,
        longest=NAME_LENGTH,
        metadata={"description": f"{_ONLY}`ProducerName` of plots whose metadata has none."},
    )
    producer_country = ProducerCountry(
        metadata={
            "description": f"{_ONLY}`ProducerCountry` of plots whose metadata has none, as in ISO "
            "3166-1 alpha-2.",
            "pattern": "^[A-Za-z]{2}$",
        },
    )
    holes = fields.String(
        validate=validate.OneOf(eudr.HOLES),
        metadata={
            "description": f"{_ONLY}what becomes of holes, which the Information System does not "
            "accept. `split`, the default, cuts plots into parts around them; `ignore` fills them; "
            "`refuse` reports them as a problem."
        },
    )
    variant = QueryInteger(
        low=eudr.VARIANTS[0],
        high=eudr.VARIANTS[-1],
        metadata={
            "description": f"{_ONLY}1, the default: a file for one producer. 2: for several "
            "producers; each plot needs `ProducerCountry`."
        },
    )
    divide = QueryBoolean(
        metadata={
            "description": f"{_ONLY}write a zip of several files, each of at most "
            f"{eudr.FILE_BYTES:,} bytes and {eudr.FILE_PRODUCERS:,} producers."
        },
    )
    cattle = QueryBoolean(
        metadata={
            "description": f"{_ONLY}the commodity is cattle: points may have more than "
            f"{eudr.POINT_HECTARES:g} hectares."
        },
    )


class EudrProjectsQuerySchema(EudrQuerySchema):
    """Options of a file of projects for the EUDR."""

    boundaries = QueryBoolean(
        metadata={"description": f"{_ONLY}include the boundaries of projects as plots (true)."},
    )
    points = QueryBoolean(
        metadata={
            "description": f"{_ONLY}include the projects' assets of type `{eudr.PLOT_TYPE}` as "
            "points (false). Needs `assets:read` too."
        },
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

    format = _format("projects")
    search = SearchText("the name, the description or the external id")


class AssetExportQuerySchema(_ExportQuerySchema, EudrQuerySchema):
    """Filters of assets, and the format."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(ASSET)

    format = _format("assets")
    search = SearchText("the name or the external id")
    project_id = ProjectId(metadata={"description": "Only assets of this project."})
