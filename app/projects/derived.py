"""What follows from the fields of a project: columns beside them, and what an event tells."""

from __future__ import annotations

from typing import Any

from app.geometry import Boundary
from app.models import Project
from app.values.text import fold, searchable


def set_geometry(project: Project, boundary: Boundary | None) -> None:
    """Set the boundary and what is derived from it."""
    project.geometry = None if boundary is None else boundary.text
    project.area_m2 = None if boundary is None else boundary.area_m2
    bounds = (None, None, None, None) if boundary is None else boundary.bounds
    project.west, project.south, project.east, project.north = bounds


def set_search_text(project: Project) -> None:
    """Set what names are sorted by and what is searched."""
    project.name_key = fold(project.name)
    project.search_text = searchable(project.name, project.description)


def changes_of(
    before: dict[str, Any], after: dict[str, Any], boundary_changed: bool
) -> dict[str, Any]:
    """What differs, as ``{field: {from, to}}``; of a boundary that it changed, and the areas."""
    changes: dict[str, Any] = {
        name: {"from": before[name], "to": after[name]}
        for name in ("name", "description", "status")
        if before[name] != after[name]
    }
    if boundary_changed:
        areas = {"from": before["area_hectares"], "to": after["area_hectares"]}
        changes["geometry"] = {"changed": True}
        changes["area_hectares"] = areas
    return changes
