"""The responses of the routes of imports."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields

from app.api.openapi.schemas import OutputSchema
from app.imports import examples
from app.policy.files import FORMATS_IN
from app.policy.imports import KINDS, STATES, STATUSES, VERDICTS
from app.values.fields import Choice


class ImportLayerSchema(OutputSchema):
    """A layer of a file. ``accuracy``: of the transformation to WGS 84, in meters."""

    name = fields.String(required=True)
    features = fields.Integer(required=True)
    columns = fields.List(fields.String(), required=True)
    crs = fields.String(required=True, allow_none=True)
    accuracy = fields.Float(required=True, allow_none=True)


class ImportCountsSchema(OutputSchema):
    """How many features have each verdict; after an undo, how many were undone and kept."""

    new = fields.Integer(required=True)
    changed = fields.Integer(required=True)
    same = fields.Integer(required=True)
    rejected = fields.Integer(required=True)
    undone = fields.Integer(required=True)
    kept = fields.Integer(required=True)


class ImportHectaresSchema(OutputSchema):
    """The area of the projects that the import creates and changes, before and after it."""

    before = fields.Float(required=True)
    after = fields.Float(required=True)


class ImportProgressSchema(OutputSchema):
    """How many features the current step has done."""

    done = fields.Integer(required=True)
    total = fields.Integer(required=True)


class ImportPersonSchema(OutputSchema):
    """The person who started the import."""

    id = fields.String(required=True)
    email = fields.String(required=True)


class ImportSummarySchema(OutputSchema):
    """An import of a file, in a list."""

    example: ClassVar = examples.SUMMARY

    id = fields.String(required=True)
    kind = Choice("ImportKind", KINDS, required=True)
    project_id = fields.String(required=True, allow_none=True)
    filename = fields.String(required=True)
    format = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": f"One of {', '.join(FORMATS_IN)}; null until the file is read."},
    )
    crs = fields.String(required=True, allow_none=True)
    status = Choice("ImportStatus", STATUSES, required=True)
    message = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Why the import failed, or what to set before it can be applied."},
    )
    layer = fields.String(required=True, allow_none=True)
    match = fields.String(required=True, allow_none=True)
    close_lines = fields.Boolean(required=True)
    counts = fields.Nested(ImportCountsSchema, required=True)
    hectares = fields.Nested(ImportHectaresSchema, required=True)
    bbox = fields.List(
        fields.Float(),
        required=True,
        allow_none=True,
        metadata={
            "description": (
                "West, south, east and north of the features that are not rejected, in degrees. "
                "If that is not where the forests are, the coordinate system is another one."
            )
        },
    )
    notes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "What was left out, and what to know about the coordinates."},
    )
    progress = fields.Nested(ImportProgressSchema, required=True)
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)
    created_by = fields.Nested(ImportPersonSchema, required=True)


class ImportSchema(ImportSummarySchema):
    """An import of a file."""

    example: ClassVar = examples.IMPORT

    layers = fields.List(fields.Nested(ImportLayerSchema), required=True)
    mapping = fields.Dict(required=True, allow_none=True, metadata=examples.MAPPING_SHAPE)


class ImportProblemSchema(OutputSchema):
    """One problem of a feature. Indices count from 0, and are null where they do not apply."""

    code = fields.String(required=True)
    message = fields.String(required=True)
    field = fields.String(required=True)
    part = fields.Integer(required=True, allow_none=True)
    ring = fields.Integer(required=True, allow_none=True)
    position = fields.Integer(required=True, allow_none=True)
    coordinates = fields.List(fields.Float(), required=True, allow_none=True)


class ImportFeatureSchema(OutputSchema):
    """A feature of the file, and what becomes of it."""

    example: ClassVar = examples.FEATURE

    number = fields.Integer(
        required=True, metadata={"description": "Position in the layer, from 1."}
    )
    name = fields.String(required=True)
    verdict = Choice("ImportVerdict", VERDICTS, required=True)
    state = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": f"One of {', '.join(STATES)}; null: nothing was written."},
    )
    project_id = fields.String(
        allow_none=True, metadata={"description": "The project that it is or becomes."}
    )
    asset_id = fields.String(
        allow_none=True, metadata={"description": "The asset that it is or becomes."}
    )
    area_hectares = fields.Float(required=True, allow_none=True)
    previous_area_hectares = fields.Float(required=True, allow_none=True)
    changes = fields.List(
        fields.String(), required=True, metadata={"description": "The fields that differ."}
    )
    problems = fields.List(fields.Nested(ImportProblemSchema), required=True)
