"""The query and the record of /v1/eudr."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import FilterQuerySchema, SearchText
from app.api.resource_schemas import filter_fields
from app.exports.schemas import EudrProjectsQuerySchema
from app.policy import eudr
from app.policy.fields import PROJECT


class EudrReportQuerySchema(FilterQuerySchema, EudrProjectsQuerySchema):
    """Which projects, and what the file is to be."""

    class Meta(FilterQuerySchema.Meta):
        include = filter_fields(PROJECT)

    search = SearchText("the name, the description or the external id")


def _codes(codes: dict[str, str]) -> str:
    return "\n".join(f"- `{code}`: {meaning}" for code, meaning in codes.items())


class EudrFindingSchema(OutputSchema):
    """A problem or a warning. One that is about the whole file has no ids and no name."""

    project_id = fields.String(required=True, allow_none=True)
    asset_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Of a plot kept as a point."}
    )
    name = fields.String(required=True, allow_none=True)
    code = fields.String(required=True)
    message = fields.String(required=True)


class EudrReportSchema(OutputSchema):
    """What the file would be."""

    example: ClassVar = {
        "ready": False,
        "files": 1,
        "features": 41,
        "plots": 38,
        "points": 3,
        "producers": 12,
        "bytes": 50_873,
        "problems": [
            {
                "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
                "asset_id": "asset_01k9zq7c4d8r0v3nwk5t2m6xbe",
                "name": "Goaso 17",
                "code": "point_over_4_ha",
                "message": "Area is 5.2 hectares. A point has 4 at most, but for cattle. Draw the "
                "boundary of the plot as a project.",
            }
        ],
        "warnings": [],
        "problem_counts": {"point_over_4_ha": 1},
        "warning_counts": {},
        "overlaps_complete": True,
    }

    ready = fields.Boolean(
        required=True, metadata={"description": "There are plots, and no problems."}
    )
    files = fields.Integer(
        required=True, metadata={"description": "More than 1 only with `divide=true`."}
    )
    features = fields.Integer(required=True)
    plots = fields.Integer(
        required=True, metadata={"description": "Polygons: parts of boundaries."}
    )
    points = fields.Integer(required=True, metadata={"description": "Plots kept as points."})
    producers = fields.Integer(
        required=True,
        metadata={"description": "By name and country, or the number of countries if larger."},
    )
    bytes = fields.Integer(required=True, metadata={"description": "Of all files, unpacked."})
    problems = fields.List(
        fields.Nested(EudrFindingSchema),
        required=True,
        metadata={
            "description": f"The first {eudr.LISTED:,} of each code. An export with problems is "
            f"answered 400, with the same codes and messages.\n\n{_codes(eudr.PROBLEMS)}"
        },
    )
    warnings = fields.List(
        fields.Nested(EudrFindingSchema),
        required=True,
        metadata={
            "description": f"The first {eudr.LISTED:,} of each code; they stop no export.\n\n"
            f"{_codes(eudr.WARNINGS)}"
        },
    )
    problem_counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"description": "How many problems there are, by their codes."},
    )
    warning_counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"description": "How many warnings there are, by their codes."},
    )
    overlaps_complete = fields.Boolean(
        required=True,
        metadata={"description": "False: there were too many plots to compare all for overlaps."},
    )
