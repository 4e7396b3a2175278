"""What follows from the fields of an asset: columns beside them."""

from __future__ import annotations

from app.geometry import Point
from app.models import Asset
from app.values.text import searchable


def set_location(asset: Asset, location: Point | None) -> None:
    """Set the location and what is derived from it."""
    asset.location = None if location is None else location.text
    asset.longitude = None if location is None else location.longitude
    asset.latitude = None if location is None else location.latitude


def set_search_text(asset: Asset) -> None:
    """Set what is searched."""
    asset.search_text = searchable(asset.name)
