"""An asset and the boundary of its project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.geometry import contains, stored_rings
from app.pages.projects.page.details import asset_place, text_of


def is_outside(asset: Mapping[str, Any], project: Mapping[str, Any]) -> bool:
    """Whether an asset has a location that is not within the boundary of its project."""
    place = asset_place(asset)
    if place is None or project["geometry"] is None:
        return False
    longitude, latitude = place["place"]
    return not contains(stored_rings(text_of(project["geometry"])), longitude, latitude)
