"""Request bodies, queries and responses of imports."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import marshmallow as ma
from marshmallow import fields, validate
from werkzeug.datastructures import FileStorage

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import PageQuerySchema, ResourceId
from app.formats.encodings import NAMES, encoding_name
from app.geometry.warnings import WARNING_CODES
from app.imports.features.mapping import mapped_fields
from app.imports.record import COUNTS
from app.policy.files import (
    COLUMN_NAME_LENGTH,
    COLUMNS,
    CRS_LENGTH,
    FEATURES,
    FORMATS_IN,
    NAMES_LENGTH,
)
from app.policy.imports import (
    FILENAME_LENGTH,
    GEOMETRY_COLUMNS,
    KINDS,
    MATCHES,
    O_MEANS,
    OVERLAPS,
    POINTS,
    QUESTIONS,
    RENAMED,
    STATES,
    STATUSES,
    VERDICTS,
    ZONE_LETTERS,
)
from app.projects.boundaries.schemas import PlacedProblemSchema
from app.values.messages import NO_OBJECT, invalid
from app.values.schemas import (
    BoundedList,
    Choice,
    InputSchema,
    Name,
    QueryBoolean,
    StrictBoolean,
    StrictInteger,
    Text,
)
from app.values.strict_json import JsonInvalid, loads
from app.values.text import storage_problem

_FIELDS: Final = sorted({name for kind in KINDS for name in mapped_fields(kind)})

_EXAMPLE_MAPPING: Final[dict[str, Any]] = {
    "name": "DISTRICT",
    "external_id": "ID",
    "metadata": ["FOREST", "REGION"],
}
_NO_NUMBER: Final = "Must be the number of a feature."


class ColumnMappingField(fields.Field[Any]):
    """A mapping of fields to columns: JSON; in a form, JSON text."""

    def __init__(self, **options: Any) -> None:
        metadata = {"type": "object", "examples": [_EXAMPLE_MAPPING]}
        super().__init__(metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> dict[str, Any]:
        mapping = _json_object(value)
        for name, column in mapping.items():
            _check_columns(name, column)
        _check_size(mapping)
        return mapping


class LettersField(fields.Field[Any]):
    """What letters mean: JSON; in a form, JSON text."""

    def __init__(self, **options: Any) -> None:
        metadata = {
            "type": "object",
            "properties": {"O": {"type": "string", "enum": list(O_MEANS)}},
            "additionalProperties": False,
        }
        super().__init__(metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> dict[str, Any]:
        letters = _json_object(value)
        if any(name != "O" or meaning not in O_MEANS for name, meaning in letters.items()):
            raise invalid("Must say of O that it is east or west.", "unknown")
        return letters


def _json_object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = loads(value.encode())
        except JsonInvalid as error:
            raise invalid(str(error), "wrong_format") from None
    if not isinstance(value, dict):
        raise ma.ValidationError(NO_OBJECT)
    return dict(value)


def _check_columns(name: str, column: Any) -> None:
    if name not in (*_FIELDS, *GEOMETRY_COLUMNS, "metadata"):
        fields_ = ", ".join((*_FIELDS, *GEOMETRY_COLUMNS, "metadata"))
        raise invalid(f"{name[:50]!r} is unknown. The fields are: {fields_}.", "unknown")
    if name == "metadata":
        if not (column is None or (isinstance(column, list) and all(map(_is_column, column)))):
            raise invalid("'metadata' must be a list of names of columns, or null.", "wrong_type")
    elif not (column is None or _is_column(column)):
        raise invalid(f"{name!r} must be the name of a column, or null.", "wrong_type")


def _check_size(mapping: dict[str, Any]) -> None:
    """Raise ValidationError if the mapping has more columns than a file can have."""
    metadata = mapping.get("metadata") or []
    if len(metadata) > COLUMNS:
        raise invalid(f"'metadata' must have at most {COLUMNS} names of columns.", "too_many")
    names = [name for name in (*mapping.values(), *metadata) if isinstance(name, str)]
    if sum(map(len, names)) > NAMES_LENGTH:
        message = f"The names of columns must have at most {NAMES_LENGTH:,} characters together."
        raise invalid(message, "too_long")


def _is_column(value: Any) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= COLUMN_NAME_LENGTH
        and not storage_problem(value)
    )


class EncodingName(Text):
    """A name of an encoding, as ``app.formats.encodings.NAMES`` has it."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        label: str = super()._deserialize(value, attr, data, **options)
        if (name := encoding_name(label)) is None:
            raise invalid(f"Must be an encoding: {', '.join(NAMES)}.", "unknown")
        return name


class FeatureNames(fields.Dict):
    """Names by the numbers of features."""

    def __init__(self, **options: Any) -> None:
        number = fields.String(validate=validate.Regexp(r"[1-9][0-9]{0,8}\Z", error=_NO_NUMBER))
        super().__init__(keys=number, values=Name(), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        if isinstance(value, dict) and len(value) > RENAMED:
            raise invalid(f"Must have at most {RENAMED:,} names.", "too_many")
        return super()._deserialize(value, attr, data, **options)  # type: ignore[no-untyped-call]


class ChosenBoolean(StrictBoolean):
    """True or false; in a form, as words."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> bool:
        if getattr(self.root, "is_form", False):
            value = {"true": True, "false": False}.get(value, value)
        return super()._deserialize(value, attr, data, **options)


class UploadedFile(fields.Field[FileStorage]):
    """A file in a form."""

    def __init__(self, **options: Any) -> None:
        formats = ", ".join(FORMATS_IN.values())
        description = f"The file: {formats}. It is recognized by its content."
        metadata = {"type": "string", "format": "binary", "description": description}
        super().__init__(metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> FileStorage:
        if not isinstance(value, FileStorage) or not value.filename:
            raise invalid("Must be a file.", "wrong_type")
        if storage_problem(value.filename) or len(value.filename) > FILENAME_LENGTH:
            raise invalid(f"Must have a name of at most {FILENAME_LENGTH} characters.", "too_long")
        return value


_CHOICES: Final = {
    "kind": "What the features become.",
    "project_id": "The project that assets, or plots, are imported into; null for projects, and "
    "for plots of a new project.",
    "layer": "The layer to import; by default the first that has areas, or points for assets; of "
    "GPX tracks or waypoints, of KML all folders.",
    "mapping": "The column of each field. `metadata` lists the columns that become metadata; null: "
    "all others. Fields that you leave out are guessed; null: the field has no column. If the "
    "geometries of a CSV file are not found, name their columns: `geometry`; `latitude` and "
    "`longitude`; or `easting` and `northing`, with `zone` if there is one.",
    "match": "How a feature finds the project or asset that it changes. `none`: it changes none. "
    "By default `external_id` if a column has external ids or the file was exported from here, "
    "otherwise `none`.",
    "crs": "The coordinate system, such as `EPSG:25832`; `EPSG:4326` for longitude and latitude. "
    "It overrides the one that the file names. Null: the one of the file.",
    "encoding": "The encoding of the texts, such as `cp1250`, whatever the file says; of all "
    "formats but KMZ and GeoPackage. Any name that the WHATWG or Python knows. Null: what the file "
    "says, else a guess by its letters and the country of its shapes.",
    "close_lines": "Close lines and tracks, so that they become boundaries.",
    "swap": "Swap the coordinates of the whole file: it has latitude or northing first.",
    "corners_by": "Points are corners of boundaries: one boundary for each value of this column; "
    "with an empty text, one of all points. Null: points are points.",
    "without_boundaries": "Apply the import although no feature has a boundary (for assets: a "
    "location).",
    "letters": "What the letter `O` means in the places of a CSV file: `east` (*Ost*) or `west` "
    "(*oeste*, *ouest*). Null: what the other letters, the headings or your projects say.",
    "zone_letter": "What `S` behind a UTM zone means in a CSV file: the `band` from 32 to 40 "
    "degrees north, or the southern `hemisphere`. Null: what the northing, the other zones or your "
    "projects say.",
    "points_as_plots": "For `kind=projects`. True: points become plots, assets of the type `plot` "
    "in the project `project_id` or, if that is null, in a new project without a boundary, named "
    "after the file. False: points are rejected. Null: not chosen yet; a file for the EUDR with "
    "points asks for it.",
    "points": "For `kind=projects`. `assets`: points become assets of `project_id`, like plots, "
    "but of any type, by default `point_of_interest`; `points_as_plots` is true then. Without "
    "`project_id`, of GPX they are of the project of its only track or route, and else of a new "
    "one.",
    "left_out": "The numbers of features not to write; null or an empty list: none. Sent alone, it "
    "does not read the file again. When the file is read again, they stay left out, unless "
    "`layer`, `kind`, `corners_by` or `points_as_plots` changes.",
    "names": "Names of features by their numbers, instead of those in the file; null or an empty "
    "object: none. They last as long as `left_out`.",
}


class ImportChoicesSchema(InputSchema):
    """How a file is read."""

    kind = Choice("ImportKind", KINDS)
    project_id = ResourceId("project", allow_none=True)
    layer = Text(shortest=1, longest=COLUMN_NAME_LENGTH)
    mapping = ColumnMappingField()
    match = Choice("ImportMatch", MATCHES)
    crs = Text(shortest=1, longest=CRS_LENGTH, allow_none=True)
    encoding = EncodingName(shortest=1, longest=50, allow_none=True)
    close_lines = ChosenBoolean()
    swap = ChosenBoolean()
    corners_by = Text(longest=COLUMN_NAME_LENGTH, allow_none=True)
    without_boundaries = ChosenBoolean()
    letters = LettersField(allow_none=True)
    zone_letter = Choice("ZoneLetter", ZONE_LETTERS, allow_none=True)
    points_as_plots = ChosenBoolean(allow_none=True)
    points = Choice("ImportPoints", POINTS, allow_none=True)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if field_name in _CHOICES:
            field_obj.metadata = {**field_obj.metadata, "description": _CHOICES[field_name]}


class ImportCreateSchema(ImportChoicesSchema):
    """A file to import, and how."""

    example: ClassVar = {"file": "districts.zip", "match": "external_id"}
    is_form: ClassVar = True

    file = UploadedFile(required=True)
    kind = Choice("ImportKind", KINDS, load_default="projects")

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        super().on_bind_field(field_name, field_obj)
        field_obj.allow_none = False


class ImportUpdateSchema(ImportChoicesSchema):
    """How to read the file again, or which features to leave out. Absent fields keep their values;
    another layer keeps the mapping of the columns that it has too."""

    example: ClassVar = {"mapping": _EXAMPLE_MAPPING, "match": "external_id"}

    left_out = BoundedList(StrictInteger(low=1, high=FEATURES), longest=FEATURES, allow_none=True)
    names = FeatureNames(allow_none=True, metadata={"maxProperties": RENAMED})


class ImportQuerySchema(PageQuerySchema):
    """Filters of imports."""

    kind = Choice("ImportKind", KINDS, metadata={"description": "Only imports of this kind."})
    status = Choice(
        "ImportStatus", STATUSES, metadata={"description": "Only imports with this status."}
    )


class ImportFeatureQuerySchema(PageQuerySchema):
    """Filters of the features of an import."""

    verdict = Choice(
        "ImportVerdict", VERDICTS, metadata={"description": "Only features with this verdict."}
    )
    state = Choice(
        "ImportFeatureState", STATES, metadata={"description": "Only features in this state."}
    )
    left_out = QueryBoolean(
        metadata={"description": "Only features that are left out; false: only the others."}
    )
    overlapping = QueryBoolean(
        metadata={"description": "Only features that overlap, or only those that do not."},
    )


class ImportLayerSchema(OutputSchema):
    """A layer of a file. ``accuracy`` is that of the transformation to WGS 84, in meters.

    Of more than ten coordinate systems in a file, the last ones have the names in the file, and no
    accuracy.
    """

    name = fields.String()
    features = fields.Integer()
    columns = fields.List(fields.String())
    crs = fields.String(allow_none=True)
    accuracy = fields.Float(allow_none=True)
    geometry = fields.String(
        allow_none=True,
        metadata={
            "description": "The geometries of its first features, in a shapefile or GeoPackage of "
            "several layers: areas, lines or points."
        },
    )
    geometry_columns = fields.List(
        fields.String(), metadata={"description": "The columns of a CSV file with the geometries."}
    )


class ImportCountsSchema(OutputSchema):
    """Numbers of features: by verdict, and how many were left out, which do not count elsewhere.

    ``new_plots``: new ones that become assets in an import of projects. ``without_boundary``: those
    without a boundary (assets: without a location), unless rejected. ``overlapping``: those that
    overlap with projects or with one another; ``overlapping_projects``: with projects. ``undone``
    and ``kept``: after an undo."""

    new = fields.Integer()
    changed = fields.Integer()
    same = fields.Integer()
    rejected = fields.Integer()
    new_plots = fields.Integer()
    left_out = fields.Integer()
    without_boundary = fields.Integer()
    overlapping = fields.Integer()
    overlapping_projects = fields.Integer()
    undone = fields.Integer()
    kept = fields.Integer()


class ImportHectaresSchema(OutputSchema):
    """The area of the projects that the import creates and changes, before and after, and the area
    that overlaps with other projects. In one import of projects: what the account has with it or,
    unless it is ``ready``, now, and what its plan is meant for."""

    optional: ClassVar = ("account", "limit")

    before = fields.Float()
    after = fields.Float()
    overlapping = fields.Float()
    account = fields.Float()
    limit = fields.Integer(allow_none=True)


class ImportCountrySchema(OutputSchema):
    """A country of features, by Natural Earth: its ISO 3166-1 alpha-2 code and its English name."""

    code = fields.String()
    name = fields.String()
    features = fields.Integer()


class ImportFaultSchema(OutputSchema):
    """A fault for which features were rejected. ``message`` describes it in plain words for the
    feature with the number ``first``; messages of the others differ only in numbers."""

    code = fields.String()
    message = fields.String()
    features = fields.Integer()
    first = fields.Integer()


class ImportWarningSchema(ImportFaultSchema):
    """Something odd about boundaries that is mostly a mistake: how many features have it, and the
    number of the first."""

    code = fields.String(metadata={"description": f"One of {', '.join(WARNING_CODES)}."})


class ImportOptionSchema(OutputSchema):
    """An answer to a question. ``put``: the body of the PUT that gives the answer; fill in its
    nulls. ``features``: how many it concerns. ``bbox``: where it would put the first positions of
    the features, as west, south, east and north in degrees; null if it is not about places.
    ``sample``: values of the columns that it is about."""

    put = fields.Dict()
    label = fields.String()
    features = fields.Integer()
    bbox = fields.List(fields.Float(), allow_none=True)
    sample = fields.Dict(keys=fields.String(), values=fields.List(fields.String()))


class ImportQuestionSchema(OutputSchema):
    """A question about the file, with answers to choose from. ``bbox``: where the file is as
    read now, if the question is about places. ``position``: the middle of the file in the
    coordinate system that is asked for. ``required``: answer it before you apply the import."""

    code = fields.String(metadata={"description": f"One of {', '.join(QUESTIONS)}."})
    message = fields.String()
    bbox = fields.List(fields.Float(), allow_none=True)
    position = fields.List(fields.Float(), allow_none=True)
    required = fields.Boolean()
    options = fields.List(fields.Nested(ImportOptionSchema))


class ImportEncodingSchema(OutputSchema):
    """The encoding that texts were read in; ``guessed``: neither the file nor a person says it."""

    name = fields.String()
    guessed = fields.Boolean()


class ImportProgressSchema(OutputSchema):
    """The number of features that the current step has done, and of all."""

    done = fields.Integer()
    total = fields.Integer()


class ImportPersonSchema(OutputSchema):
    """The person who started the import."""

    id = fields.String()
    email = fields.String()


class ImportSummarySchema(OutputSchema):
    """An import of a file, in a list."""

    example: ClassVar[dict[str, Any]] = {
        "id": "imp_01k9zr2c8w4h6t0y3v7m5n1bqd",
        "kind": "projects",
        "project_id": None,
        "filename": "districts.zip",
        "format": "shp",
        "crs": "EPSG:32610",
        "encoding": {"name": "utf-8", "guessed": False},
        "status": "ready",
        "message": None,
        "layer": "districts",
        "match": "external_id",
        "close_lines": False,
        "swap": False,
        "corners_by": None,
        "without_boundaries": False,
        "letters": None,
        "zone_letter": None,
        "points_as_plots": None,
        "points": None,
        "counts": {
            **dict.fromkeys(COUNTS, 0),
            **{"new": 1, "changed": 1, "same": 20, "rejected": 1, "left_out": 1},
            **{"overlapping": 1, "overlapping_projects": 1},
        },
        "hectares": {"before": 35692.7657, "after": 98120.1254, "overlapping": 12.3456},
        "bbox": [-124.2038, 42.8106, -121.9662, 44.3011],
        "countries": [{"code": "US", "name": "United States of America", "features": 23}],
        "faults": [
            {
                "code": "not_closed",
                "message": "This outline is not closed. Let it end at the corner where it begins.",
                "features": 1,
                "first": 7,
            }
        ],
        "warnings": [
            {
                "code": "sliver",
                "message": WARNING_CODES["sliver"],
                "features": 2,
                "first": 3,
            }
        ],
        "notes": [],
        "progress": {"done": 24, "total": 24},
        "created_at": "2026-01-02T03:04:05.678Z",
        "updated_at": "2026-01-02T03:04:06.512Z",
        "created_by": {"id": "user_01k9zq1n6g5x8c2v4b7m0d3fht", "email": "ada@example.org"},
    }

    id = fields.String()
    kind = Choice("ImportKind", KINDS)
    project_id = fields.String(allow_none=True)
    filename = fields.String()
    format = fields.String(
        allow_none=True,
        metadata={"description": f"One of {', '.join(FORMATS_IN)}; null until the file is read."},
    )
    crs = fields.String(allow_none=True)
    encoding = fields.Nested(
        ImportEncodingSchema,
        allow_none=True,
        metadata={"description": "Null until the file is read, and in formats with one encoding."},
    )
    status = Choice("ImportStatus", STATUSES)
    message = fields.String(
        allow_none=True,
        metadata={
            "description": "Why the import failed or waits, or what to set before it can be "
            "applied."
        },
    )
    layer = fields.String(allow_none=True)
    match = fields.String(allow_none=True)
    close_lines = fields.Boolean()
    swap = fields.Boolean()
    corners_by = fields.String(allow_none=True)
    without_boundaries = fields.Boolean()
    letters = LettersField(allow_none=True)
    zone_letter = Choice("ZoneLetter", ZONE_LETTERS, allow_none=True)
    points_as_plots = fields.Boolean(allow_none=True)
    points = Choice("ImportPoints", POINTS, allow_none=True)
    counts = fields.Nested(ImportCountsSchema)
    hectares = fields.Nested(ImportHectaresSchema)
    bbox = fields.List(
        fields.Float(),
        allow_none=True,
        metadata={
            "description": (
                "West, south, east and north of the features that are not rejected, in degrees. "
                "If the forests are elsewhere, the coordinate system is wrong."
            )
        },
    )
    countries = fields.List(
        fields.Nested(ImportCountrySchema),
        metadata={"description": "Where the features lie, the most frequent country first."},
    )
    faults = fields.List(
        fields.Nested(ImportFaultSchema),
        metadata={"description": "Why features were rejected, the most frequent reason first."},
    )
    warnings = fields.List(
        fields.Nested(ImportWarningSchema),
        metadata={"description": "Oddities of boundaries, which are written all the same."},
    )
    notes = fields.List(
        fields.String(),
        metadata={"description": "What was left out, and what to know about the coordinates."},
    )
    progress = fields.Nested(ImportProgressSchema)
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    created_by = fields.Nested(ImportPersonSchema)


class ImportSchema(ImportSummarySchema):
    """An import of a file."""

    example: ClassVar[dict[str, Any]] = {
        **ImportSummarySchema.example,
        "layers": [
            {
                "name": "districts",
                "features": 24,
                "columns": ["ID", "DISTRICT", "FOREST", "REGION"],
                "crs": "EPSG:32610",
                "accuracy": 0,
                "geometry": None,
                "geometry_columns": [],
            }
        ],
        "mapping": {**_EXAMPLE_MAPPING, "description": None},
        "questions": [],
        "suggestions": [],
        "left_out": [3],
        "names": {"7": "Brice Creek"},
    }

    layers = fields.List(fields.Nested(ImportLayerSchema))
    mapping = fields.Dict(allow_none=True)
    questions = fields.List(
        fields.Nested(ImportQuestionSchema),
        metadata={
            "description": (
                "Questions about the file, the most important first. Answer those that are "
                "`required` before you apply the import."
            )
        },
    )
    suggestions = fields.List(
        fields.Nested(ImportOptionSchema),
        metadata={
            "description": "Columns to choose as the external id, if none was taken: all features "
            "have one, and each differs. The likeliest comes first."
        },
    )
    left_out = fields.List(fields.Integer())
    names = fields.Dict(keys=fields.String(), values=fields.String())


class ImportProblemSchema(PlacedProblemSchema):
    """One problem of a feature. Indices count from 0, and are null where they do not apply."""

    field = fields.String()


class ImportOverlapSchema(OutputSchema):
    """An overlap of a feature with a project, or with another feature, by its ``number``.
    ``share``: the part of the feature's area, from 0 to 1."""

    project_id = fields.String(allow_none=True)
    number = fields.Integer(allow_none=True)
    name = fields.String()
    overlap_hectares = fields.Float()
    share = fields.Float()


class ImportFeatureSchema(OutputSchema):
    """A feature of the file, and what becomes of it."""

    example: ClassVar = {
        "number": 7,
        "name": "Cottage Grove District",
        "external_id": "061502",
        "kind": "projects",
        "verdict": "changed",
        "left_out": False,
        "state": None,
        "project_id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd",
        "overlaps": [
            {
                "project_id": "proj_01k9zq4b8n2v6x0c5m7t1r3ydw",
                "number": None,
                "name": "Middle Fork District",
                "overlap_hectares": 12.3456,
                "share": 0.000346,
            }
        ],
        "area_hectares": 35701.2213,
        "previous_area_hectares": 35692.7657,
        "changes": ["geometry", "metadata"],
        "metadata_changes": ["REGION"],
        "problems": [],
    }

    optional: ClassVar = (
        "project_id",
        "asset_id",
        "outside",
        "overlaps",
    )

    number = fields.Integer(metadata={"description": "Position in the layer, from 1."})
    name = fields.String()
    external_id = fields.String(
        allow_none=True, metadata={"description": "In the file; null too if it is rejected."}
    )
    kind = Choice(
        "ImportKind",
        KINDS,
        metadata={"description": "What it becomes: a project or an asset. Plots are assets."},
    )
    verdict = Choice("ImportVerdict", VERDICTS)
    left_out = fields.Boolean(metadata={"description": "A person has chosen not to write it."})
    state = fields.String(
        allow_none=True,
        metadata={"description": f"One of {', '.join(STATES)}; null: nothing was written."},
    )
    project_id = fields.String(
        allow_none=True, metadata={"description": "The project that it is or becomes."}
    )
    asset_id = fields.String(
        allow_none=True, metadata={"description": "The asset that it is or becomes."}
    )
    outside = fields.Boolean(
        allow_none=True,
        metadata={
            "description": "For assets: it lies outside the boundary of its project. Null: the "
            "asset has no location, or the project no boundary."
        },
    )
    overlaps = fields.List(
        fields.Nested(ImportOverlapSchema),
        metadata={"description": f"For projects: the {OVERLAPS} largest overlaps."},
    )
    area_hectares = fields.Float(allow_none=True)
    previous_area_hectares = fields.Float(allow_none=True)
    changes = fields.List(fields.String(), metadata={"description": "The fields that differ."})
    metadata_changes = fields.List(
        fields.String(), metadata={"description": "The keys of `metadata` that differ."}
    )
    problems = fields.List(fields.Nested(ImportProblemSchema))
