"""The queries of files for the EUDR, and the record of /v1/eudr."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.eudr.plots import country_code, country_error
from app.policy import eudr
from app.policy.countries import COUNTRY_CODES
from app.policy.request_limits import NAME_LENGTH
from app.projects.schemas import ProjectFiltersSchema
from app.values.messages import invalid
from app.values.schemas import QueryBoolean, QueryInteger, QuerySchema, Text


def _about(text: str) -> dict[str, str]:
    """The description of an option, in queries that have others, too."""
    return {"description": f"For the EUDR: {text}"}


class ProducerCountry(Text):
    """The code of a country, in capitals or not."""

    def __init__(self, **options: Any) -> None:
        super().__init__(shortest=2, longest=2, **options)

    def _deserialize(self, *args: Any, **values: Any) -> str:
        code = country_code(super()._deserialize(*args, **values))
        if code not in COUNTRY_CODES:
            raise invalid(country_error(code), "not_one_of")
        return code


class EudrQuerySchema(QuerySchema):
    """The options of a file for the EUDR."""

    producer_name = Text(
        shortest=1,
        longest=NAME_LENGTH,
        metadata=_about("`ProducerName` of plots whose metadata has none."),
    )
    producer_key = Text(
        shortest=1,
        longest=NAME_LENGTH,
        metadata=_about(
            "the key of the metadata with the producer, such as `farmer`, of plots whose metadata "
            "has no `ProducerName`. It goes before `producer_name`."
        ),
    )
    producer_country = ProducerCountry(
        metadata=_about(
            "`ProducerCountry` of plots whose metadata has none, as in ISO 3166-1 alpha-2."
        )
        | {"pattern": "^[A-Za-z]{2}$"}
    )
    holes = fields.String(
        validate=validate.OneOf(eudr.HOLES),
        metadata=_about(
            "what becomes of holes, which the Information System does not know. `split`, the "
            "default, cuts the plot in parts around them; `ignore` fills them; `refuse` makes them "
            "a problem."
        ),
    )
    variant = QueryInteger(
        low=eudr.VARIANTS[0],
        high=eudr.VARIANTS[-1],
        metadata=_about(
            "1, the default: a file for one producer, which is uploaded there. 2: for several, "
            "which is uploaded at a commodity."
        ),
    )
    divide = QueryBoolean(
        metadata=_about(
            f"write a zip of several files, each of at most {eudr.FILE_BYTES:,} bytes and "
            f"{eudr.FILE_PRODUCERS:,} producers."
        )
    )
    cattle = QueryBoolean(
        metadata=_about(
            f"the commodity is cattle, so points may have more than {eudr.POINT_HECTARES:g} "
            "hectares."
        )
    )


class EudrProjectsQuerySchema(EudrQuerySchema):
    """The options of a file with the plots of projects."""

    boundaries = QueryBoolean(metadata=_about("`false` leaves out the boundaries of projects."))
    points = QueryBoolean(
        metadata=_about(
            f"`true` adds the projects' assets of type `{eudr.PLOT_TYPE}` as points. This also "
            "needs `assets:read`."
        )
    )


class EudrReportQuerySchema(ProjectFiltersSchema, EudrProjectsQuerySchema):
    """Which projects, and the options of the file."""

    simplified = QueryBoolean(metadata=_about("`true`: the file of `format=eudr_simplified`."))


def _listed_codes(codes: dict[str, str]) -> str:
    return "\n".join(f"- `{code}`: {meaning}" for code, meaning in codes.items())


class EudrFindingSchema(OutputSchema):
    """A problem or a warning. One about the whole file has no ids and no name."""

    project_id = fields.String(allow_none=True)
    asset_id = fields.String(
        allow_none=True, metadata={"description": "The id of a plot kept as a point."}
    )
    name = fields.String(allow_none=True)
    code = fields.String()
    message = fields.String()
    proposed = fields.String(
        allow_none=True,
        metadata={"description": "The country that the plot lies in, where `ProducerCountry` is not"
                  " it: a proposal from a coarse map."},
    )  # fmt: skip


class EudrChangesSchema(OutputSchema):
    """What the file has differently."""

    parts = fields.Integer(
        metadata={"description": "Boundaries with several parts: each part becomes a plot."}
    )
    holes = fields.Integer(
        metadata={"description": "Holes, which plots are cut in parts around, or which are filled."}
    )
    rounded = fields.Integer(
        metadata={"description": "Projects and points whose positions have more than six decimals."}
    )


class EudrReportSchema(OutputSchema):
    """The file that would be written."""

    example: ClassVar = {
        "ready": False,
        "files": 1,
        "records": 40,
        "changes": {"parts": 1, "holes": 0, "rounded": 37},
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
                "proposed": None,
            }
        ],
        "warnings": [],
        "problem_counts": {"point_over_4_ha": 1},
        "warning_counts": {},
        "overlaps_complete": True,
    }

    ready = fields.Boolean(metadata={"description": "There are plots, and no problems."})
    files = fields.Integer(metadata={"description": "More than 1 only with `divide=true`."})
    records = fields.Integer(metadata={"description": "Projects and points that the plots are of."})
    changes = fields.Nested(EudrChangesSchema)
    features = fields.Integer()
    plots = fields.Integer(metadata={"description": "Polygons: parts of boundaries."})
    points = fields.Integer(metadata={"description": "Plots kept as points."})
    producers = fields.Integer(
        metadata={
            "description": "The number of producers by name and country, or of countries if larger."
        }
    )
    bytes = fields.Integer(metadata={"description": "The size of all files, unpacked."})
    problems = fields.List(
        fields.Nested(EudrFindingSchema),
        metadata={
            "description": f"The first {eudr.LISTED:,} of each code. An export with problems is "
            f"answered 400, with the same codes and messages.\n\n{_listed_codes(eudr.PROBLEMS)}"
        },
    )
    warnings = fields.List(
        fields.Nested(EudrFindingSchema),
        metadata={
            "description": f"The first {eudr.LISTED:,} of each code; they stop no export.\n\n"
            f"{_listed_codes(eudr.WARNINGS)}"
        },
    )
    problem_counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"description": "How many problems there are, by their codes."},
    )
    warning_counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"description": "How many warnings there are, by their codes."},
    )
    overlaps_complete = fields.Boolean(
        metadata={"description": "False: there were too many plots to compare all for overlaps."}
    )
