"""The records of an archive as rows of tables, checked as the API checks them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, get_args

import marshmallow as ma
from marshmallow import fields, validate

from app.assets import derived as assets
from app.assets.schemas import AssetUpdateSchema
from app.formats.features import FileInvalid
from app.formats.writers.features import ASSETS, METADATA, PROJECTS, FeatureType
from app.geometry import Boundary, GeometryInvalid, read_boundary
from app.policy.request_limits import RESERVED_SLUGS
from app.projects import derived as projects
from app.projects.boundary_history.entries import Source
from app.projects.schemas import ProjectUpdateSchema
from app.values import clock
from app.values.ids import is_id
from app.values.schemas import PartialSchema, StrictNumber, Timestamp
from app.values.text import slugify

Row = dict[str, Any]

# Fields that every archive has; those that came later have a default.
_ALWAYS: Final = frozenset(
    {"id", "project_id", "name", "slug", "type", "status", "created_at", "updated_at"}
)
_EARTH: Final = 51_100_000_000.0  # hectares, of land and sea
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)  # ids have no earlier times
_AHEAD: Final = timedelta(days=1)  # by which the other instance's clock may be


def _hectares(**options: Any) -> StrictNumber:
    return StrictNumber(low=0, high=_EARTH, required=True, **options)


class _DatesSchema(PartialSchema):
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)


class _BoundarySchema(PartialSchema):
    id = fields.String(required=True)
    project_id = fields.String(required=True)
    area_hectares = _hectares()
    added_hectares = _hectares(allow_none=True)
    removed_hectares = _hectares(allow_none=True)
    source = fields.String(required=True, validate=validate.OneOf(get_args(Source)))
    created_at = Timestamp(required=True)
    replaced_at = Timestamp(required=True, allow_none=True)


def project_row(feature: dict[str, Any], place: str) -> Row:
    """The row of a project, but for its account. Raises FileInvalid."""
    boundary = _boundary(feature.pop("geometry", None), place)
    row = _feature_row(PROJECTS, ProjectUpdateSchema(), feature, place)
    slug = row["slug"]
    if not slug or slugify(slug) != slug or slug in RESERVED_SLUGS:
        raise FileInvalid(f"{place}: slug: {slug!r} is no slug of a project.")
    row |= projects.geometry_columns(boundary)
    row |= projects.search_columns(row["name"], row.get("description"), row.get("external_id"))
    row["stored_bytes"] = projects.stored_bytes(row["geometry"], row.get("metadata_json"))
    return row


def asset_row(feature: dict[str, Any], place: str) -> Row:
    """The row of an asset, but for its account; ``project_id`` is the former one. Raises
    FileInvalid."""
    row = _feature_row(ASSETS, AssetUpdateSchema(), feature, place)
    row |= assets.location_columns(row.get("location"))
    return row | assets.search_columns(row["name"], row.get("external_id"))


def boundary_row(record: dict[str, Any], place: str) -> Row:
    """The row of a boundary, but for its account and checksum; ``project_id`` is the former one.
    The geometry of the present one is not in its record. Raises FileInvalid."""
    boundary = _boundary(record.pop("geometry", None), place, locate=False)
    values = _loaded(_BoundarySchema(), record, place)
    _check_times(values, place)
    return {
        "id": _checked_id("boundary", values["id"], place),
        "project_id": _checked_id("project", values["project_id"], place),
        "created_at": values["created_at"],
        "replaced_at": values["replaced_at"],
        "source": values["source"],
        "area_m2": boundary.area_m2 if boundary else square_meters(values["area_hectares"]),
        "added_m2": square_meters(values["added_hectares"]),
        "removed_m2": square_meters(values["removed_hectares"]),
        "geometry": boundary and boundary.text,
        "stored_bytes": len(boundary.text.encode()) if boundary else 0,
    }


def square_meters(hectares: Any) -> Any:
    """Whole square meters; what is no area on Earth, as it is."""
    is_area = isinstance(hectares, int | float) and 0 <= hectares <= _EARTH
    return round(hectares * 10_000) if is_area else hectares


def _feature_row(kind: FeatureType, schema: ma.Schema, feature: Mapping[str, Any], at: str) -> Row:
    """The columns of the fields that clients set, the ids, the slug and the dates."""
    properties = feature.get("properties")
    if feature.get("type") != "Feature" or not isinstance(properties, dict):
        raise FileInvalid(f"{at}: This is no GeoJSON Feature with properties.")
    record: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, value in properties.items():
        key = kind.metadata_key(name)
        if key is None:
            record[name] = value
        else:
            metadata[key] = value
    # The properties of an empty object and of none are the same.
    record[METADATA] = metadata or ({} if feature.get(METADATA) == {} else None)
    if feature.get("geometry") is not None:
        record[kind.geometry.name] = feature["geometry"]
    missing = [e.name for e in kind.fields if e.name in _ALWAYS and e.name not in record]
    if missing:
        raise FileInvalid(f"{at}: {missing[0]}: It is missing.")
    if record["id"] != feature.get("id"):
        raise FileInvalid(f"{at}: id: It differs from the one in the properties.")
    row = _loaded(schema, record, at) | _loaded(_DatesSchema(), record, at)
    _check_times(row, at)
    for name in ("id", "project_id"):
        if name in row:
            id_kind = "project" if name == "project_id" else kind.name.removesuffix("s")
            _checked_id(id_kind, row[name], at)
    return row


def _boundary(geometry: Any, place: str, *, locate: bool = True) -> Boundary | None:
    try:
        return None if geometry is None else read_boundary(geometry, locate=locate)
    except GeometryInvalid as error:
        first = error.problems[0]
        raise FileInvalid(f"{place}: {first.field}: {first.message}") from None


def _loaded(schema: ma.Schema, record: Mapping[str, Any], place: str) -> Row:
    try:
        values: Row = schema.load(record)
    except ma.ValidationError as error:
        field, message = next(iter(error.messages_dict.items()))
        while not isinstance(message, str):
            message = next(iter(message.values() if isinstance(message, dict) else message))
        raise FileInvalid(f"{place}: {field}: {message}") from None
    return values


def _checked_id(kind: str, text: Any, place: str) -> Any:
    if not (isinstance(text, str) and is_id(kind, text)):
        raise FileInvalid(f"{place}: {text!r} is no id of a {kind}.")
    return text


def _check_times(values: Row, place: str) -> None:
    """Truncate times to milliseconds. Raises FileInvalid for one that cannot be."""
    latest = clock.now() + _AHEAD
    for name, value in values.items():
        if isinstance(value, datetime):
            if not _FIRST <= value <= latest:
                raise FileInvalid(f"{place}: {name}: {value} is before 1970 or in the future.")
            values[name] = clock.to_millisecond(value)
