"""An asset as it is shown."""

from __future__ import annotations

from typing import Any, Final

from app.core.clock import shown_time
from app.core.strict_json import Fragment, dumps
from app.models import Asset

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


def asset_record(row: Any) -> dict[str, Any]:
    """The fields of an asset; location and metadata go out as they are stored.

    Args:
        row: a row of ``COLUMNS``, or an ``Asset``.
    """
    return {
        "id": row.id,
        "project_id": row.project_id,
        "name": row.name,
        "type": row.type,
        "location": None if row.location is None else Fragment(row.location),
        "status": row.status,
        "metadata": None if row.metadata_json is None else Fragment(row.metadata_json),
        "created_at": shown_time(row.created_at),
        "updated_at": shown_time(row.updated_at),
    }


def asset_data(asset: Asset) -> bytes:
    """The bytes that the entity tag of an asset is made of."""
    return dumps(asset_record(asset))
