"""The records of an archive as rows of tables, checked as the API checks them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final, get_args

import marshmallow as ma
from marshmallow import fields, validate
from marshmallow.exceptions import SCHEMA

from app.api.query_schemas import ResourceId
from app.assets import derived as assets
from app.assets.schemas import AssetUpdateSchema
from app.formats.features import FileInvalid
from app.formats.writers.features import ASSETS, METADATA, PROJECTS, FeatureType
from app.geometry import Boundary, GeometryInvalid, read_boundary
from app.policy.request_limits import RESERVED_SLUGS
from app.projects import derived as projects
from app.projects.boundary_history.entries import Source, boundary_checksum
from app.projects.schemas import ProjectUpdateSchema
from app.values import clock
from app.values.schemas import PartialSchema, StrictNumber, Timestamp
from app.values.text import slugify

Row = dict[str, Any]

_EARTH: Final = 51_100_000_000.0  # hectares, of land and sea
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)  # ids have no earlier times
_AHEAD: Final = timedelta(days=1)  # by which the other instance's clock may be
_SHOWN: Final = 80  # characters of a wrong text in a message


def slug_field() -> fields.String:
    """A field with the slug of an account or a project."""

    def check(text: str) -> None:
        if not text or slugify(text) != text or text in RESERVED_SLUGS:
            raise ma.ValidationError(f"{text[:_SHOWN]!r} is no slug.")

    return fields.String(required=True, validate=check)


def _hectares(**options: Any) -> StrictNumber:
    return StrictNumber(low=0, high=_EARTH, required=True, **options)


class _Time(Timestamp):
    """A time that an id can have, truncated to milliseconds."""

    def _deserialize(self, *args: Any, **options: Any) -> datetime:
        moment = super()._deserialize(*args, **options)
        if not _FIRST <= moment <= clock.now() + _AHEAD:
            raise ma.ValidationError(f"{moment} is before 1970 or in the future.")
        return clock.to_millisecond(moment)


class _FeatureSchema(PartialSchema):
    """Fields that every archive has: those that came later have a default."""

    name = fields.String(required=True)
    status = fields.String(required=True)
    created_at = _Time(required=True)
    updated_at = _Time(required=True)


class _ProjectSchema(_FeatureSchema):
    id = ResourceId("project", required=True)
    slug = slug_field()
    area_hectares = _hectares(allow_none=True)


class _AssetSchema(_FeatureSchema):
    id = ResourceId("asset", required=True)
    project_id = ResourceId("project", required=True)
    type = fields.String(required=True)


class _BoundarySchema(PartialSchema):
    id = ResourceId("boundary", required=True)
    project_id = ResourceId("project", required=True)
    area_hectares = _hectares()
    added_hectares = _hectares(allow_none=True)
    removed_hectares = _hectares(allow_none=True)
    source = fields.String(required=True, validate=validate.OneOf(get_args(Source)))
    created_at = _Time(required=True)
    replaced_at = _Time(required=True, allow_none=True)


# Made once: that takes longer than to load a record.
_PROJECT: Final = (_ProjectSchema(), ProjectUpdateSchema())
_ASSET: Final = (_AssetSchema(), AssetUpdateSchema())
_BOUNDARY: Final = _BoundarySchema()


def project_row(feature: dict[str, Any], place: str) -> Row:
    """The row of a project, but for its account, and with the ``area_hectares`` that it had. Raises
    FileInvalid."""
    boundary = _boundary(feature.pop("geometry", None), place)
    row = _feature_row(PROJECTS, _PROJECT, feature, place)
    row |= projects.geometry_columns(boundary)
    row |= projects.search_columns(row["name"], row.get("description"), row.get("external_id"))
    row["stored_bytes"] = projects.stored_bytes(row["geometry"], row.get("metadata_json"))
    return row


def asset_row(feature: dict[str, Any], place: str) -> Row:
    """The row of an asset, but for its account; ``project_id`` is the former one. Raises
    FileInvalid."""
    row = _feature_row(ASSETS, _ASSET, feature, place)
    row |= assets.location_columns(row.get("location"))
    return row | assets.search_columns(row["name"], row.get("external_id"))


def boundary_row(record: dict[str, Any], place: str) -> Row:
    """The row of a boundary, but for its account; ``project_id`` is the former one. The geometry of
    the present one is not in its record. Raises FileInvalid."""
    boundary = _boundary(record.pop("geometry", None), place, locate=False)
    row = loaded(_BOUNDARY, record, place)
    area_m2, added_m2, removed_m2 = (
        square_meters(row.pop(f"{name}_hectares")) for name in ("area", "added", "removed")
    )
    return row | {
        "area_m2": boundary.area_m2 if boundary else area_m2,
        "added_m2": added_m2,
        "removed_m2": removed_m2,
        "checksum": boundary_checksum(boundary.text) if boundary else 0,
        "geometry": boundary and boundary.text,
        "stored_bytes": len(boundary.text.encode()) if boundary else 0,
    }


def square_meters(hectares: float | None) -> int | None:
    """Convert hectares to whole square meters; None stays None."""
    return None if hectares is None else round(hectares * 10_000)


def _feature_row(
    kind: FeatureType, schemas: tuple[ma.Schema, ma.Schema], feature: dict[str, Any], place: str
) -> Row:
    """The columns of the fields that clients set, the ids, the slug and the dates."""
    properties = feature.get("properties")
    if not isinstance(properties, dict):
        raise FileInvalid(f"{place}: This is no GeoJSON Feature with properties.")
    keys = {name: kind.metadata_key(name) for name in properties}
    record = {name: value for name, value in properties.items() if keys[name] is None}
    metadata = {key: properties[name] for name, key in keys.items() if key is not None}
    # The properties of an empty object and of none are the same.
    record[METADATA] = metadata or ({} if feature.get(METADATA) == {} else None)
    if feature.get("geometry") is not None:
        record[kind.geometry.name] = feature["geometry"]
    own, of_clients = schemas
    return loaded(own, record, place) | loaded(of_clients, record, place)


def _boundary(geometry: Any, place: str, *, locate: bool = True) -> Boundary | None:
    try:
        return None if geometry is None else read_boundary(geometry, locate=locate)
    except GeometryInvalid as error:
        first = error.problems[0]
        raise FileInvalid(f"{place}: {first.field}: {first.message}") from None


def loaded(schema: ma.Schema, record: Any, place: str) -> Row:
    """An object by a schema. Raises FileInvalid with the first error."""
    try:
        values: Row = schema.load(record)
    except ma.ValidationError as error:
        message: Any = error.messages_dict
        path = list[str]()
        while not isinstance(message, str):
            members = message.items() if isinstance(message, dict) else [(SCHEMA, message[0])]
            name, message = next(iter(members))
            path += [] if name == SCHEMA else [str(name)]
        raise FileInvalid(f"{place}: {'.'.join(path)}: {message}") from None
    return values
