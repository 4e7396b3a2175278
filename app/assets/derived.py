"""Derived columns of an asset."""

from __future__ import annotations

from typing import Any

from app.geometry import Point
from app.values.folding import searchable_text


def location_columns(location: Point | None) -> dict[str, Any]:
    """The columns of a location."""
    return {
        "location": None if location is None else location.text,
        "longitude": None if location is None else location.longitude,
        "latitude": None if location is None else location.latitude,
    }


def search_columns(name: str, external_id: str | None) -> dict[str, str]:
    """The column that is searched."""
    ids = () if external_id is None else (external_id,)
    return {"search_text": searchable_text(name, *ids)}


def stored_bytes(metadata: str | None) -> int:
    """The bytes that an asset takes of the account's quota."""
    return 0 if metadata is None else len(metadata.encode())
