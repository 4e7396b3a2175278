"""The bodies and queries of the routes of imports."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import marshmallow as ma
from marshmallow import fields
from werkzeug.datastructures import FileStorage

from app.api.fields import PageQuerySchema, RecordId
from app.imports import examples
from app.imports.features.mapping import mapped_fields
from app.policy.files import COLUMNS, FORMATS_IN, NAMES_LENGTH
from app.policy.imports import FILENAME_LENGTH, KINDS, MATCHES, STATES, STATUSES, VERDICTS
from app.values.fields import Choice, InputSchema, StrictBoolean, Text
from app.values.strict_json import JsonInvalid, loads
from app.values.text import unstorable

_COLUMN_LENGTH: Final = 1000
_CRS_LENGTH: Final = 10_000
_FIELDS: Final = sorted({name for kind in KINDS for name in mapped_fields(kind)})

_KIND: Final = {"description": "What the features become."}
_LAYER: Final = {"description": "The layer to import; by default the first."}
_MATCH: Final = {
    "description": (
        "How a feature finds the project or asset that it changes. `none`: it changes none. By "
        "default `external_id` if the mapping has one, otherwise `none`."
    )
}
_CRS: Final = {
    "description": (
        "The coordinate system of a file that does not say which it uses, such as `EPSG:25832`. "
        "`EPSG:4326` confirms that its coordinates are longitude and latitude."
    )
}
_CLOSE_LINES: Final = {"description": "Close lines and tracks, so that they become boundaries."}


class ColumnMappingField(fields.Field[Any]):
    """Which column is read as which field: JSON, or in a form the text of it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            metadata=examples.MAPPING_SHAPE | {"examples": [examples.MAPPING]}, **options
        )

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> dict[str, Any]:
        if isinstance(value, str):
            try:
                value = loads(value.encode())
            except JsonInvalid as error:
                raise ma.ValidationError(str(error)) from None
        if not isinstance(value, dict):
            raise ma.ValidationError("Must be a JSON object.")
        for name, column in value.items():
            _check_columns(name, column)
        _check_size(value)
        return value


def _check_columns(name: str, column: Any) -> None:
    if name not in (*_FIELDS, "metadata"):
        known = ", ".join((*_FIELDS, "metadata"))
        raise ma.ValidationError(f"{name[:50]!r} is unknown. The fields are: {known}.")
    if name == "metadata":
        if not (column is None or (isinstance(column, list) and all(map(_is_column, column)))):
            raise ma.ValidationError("'metadata' must be a list of names of columns, or null.")
    elif not (column is None or _is_column(column)):
        raise ma.ValidationError(f"{name!r} must be the name of a column, or null.")


def _check_size(mapping: dict[str, Any]) -> None:
    """A file has no more columns, nor longer names, and an import shows its mapping."""
    metadata = mapping.get("metadata") or []
    if len(metadata) > COLUMNS:
        raise ma.ValidationError(f"'metadata' must have at most {COLUMNS} names of columns.")
    names = [name for name in (*mapping.values(), *metadata) if isinstance(name, str)]
    if sum(map(len, names)) > NAMES_LENGTH:
        raise ma.ValidationError(
            f"The names of columns must have at most {NAMES_LENGTH:,} characters together."
        )


def _is_column(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _COLUMN_LENGTH and not unstorable(value)


class FormBoolean(StrictBoolean):
    """true or false, in a form as text."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> bool:
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
            raise ma.ValidationError("Must be a file.")
        if unstorable(value.filename) or len(value.filename) > FILENAME_LENGTH:
            raise ma.ValidationError(f"Must have a name of at most {FILENAME_LENGTH} characters.")
        return value


class ImportCreateSchema(InputSchema):
    """A file to import, and how."""

    example: ClassVar = examples.UPLOAD
    is_form: ClassVar = True

    file = UploadedFile(required=True)
    kind = Choice("ImportKind", KINDS, load_default="projects", metadata=_KIND)
    project_id = RecordId(
        "project", metadata={"description": "The project that assets are imported into."}
    )
    layer = Text(shortest=1, longest=_COLUMN_LENGTH, metadata=_LAYER)
    mapping = ColumnMappingField()
    match = Choice("ImportMatch", MATCHES, metadata=_MATCH)
    crs = Text(shortest=1, longest=_CRS_LENGTH, metadata=_CRS)
    close_lines = FormBoolean(metadata=_CLOSE_LINES)


class ImportUpdateSchema(InputSchema):
    """What to read the file with anew. What you leave out stays as it is."""

    example: ClassVar = examples.CHANGE

    layer = Text(shortest=1, longest=_COLUMN_LENGTH, metadata=_LAYER)
    mapping = ColumnMappingField()
    match = Choice("ImportMatch", MATCHES, metadata=_MATCH)
    crs = Text(shortest=1, longest=_CRS_LENGTH, metadata=_CRS)
    close_lines = StrictBoolean(metadata=_CLOSE_LINES)


class ImportQuerySchema(PageQuerySchema):
    """Which imports."""

    kind = Choice("ImportKind", KINDS, metadata={"description": "Only imports of this kind."})
    status = Choice(
        "ImportStatus", STATUSES, metadata={"description": "Only imports with this status."}
    )


class ImportFeatureQuerySchema(PageQuerySchema):
    """Which features of an import."""

    verdict = Choice(
        "ImportVerdict", VERDICTS, metadata={"description": "Only features with this verdict."}
    )
    state = Choice(
        "ImportFeatureState", STATES, metadata={"description": "Only features in this state."}
    )
