"""An asset as it is shown."""

from __future__ import annotations

from typing import Any, Final

from app.models import Asset
from app.values.clock import format_value
from app.values.strict_json import Fragment, dumps

COLUMNS: Final = (
    Asset.id,
    Asset.project_id,
    Asset.name,
    Asset.type,
    Asset.location,
    Asset.status,
    Asset.metadata_json,
    Asset.created_at,
    Asset.updated_at,
)


def row_record(row: tuple[Any, ...]) -> dict[str, Any]:
    """The fields of an asset from a row of ``COLUMNS``; location and metadata go out unparsed."""
    id_, project_id, name, type_, location, status, metadata, created_at, updated_at = row
    return {
        "id": id_,
        "project_id": project_id,
        "name": name,
        "type": type_,
        "location": None if location is None else Fragment(location),
        "status": status,
        "metadata": None if metadata is None else Fragment(metadata),
        "created_at": created_at,
        "updated_at": updated_at,
    }


def asset_record(asset: Asset) -> dict[str, Any]:
    """The fields of an asset."""
    return row_record(tuple(format_value(getattr(asset, column.key)) for column in COLUMNS))


def asset_data(asset: Asset) -> bytes:
    """The bytes that the entity tag of an asset is made of."""
    return dumps(asset_record(asset))
