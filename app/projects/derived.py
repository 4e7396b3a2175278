"""What follows from the fields of a project: further columns, and the changes in an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.geometry import Boundary
from app.models import Project
from app.policy.fields import PROJECT
from app.values.records import changed_fields
from app.values.text import fold, searchable


def set_geometry(project: Project, boundary: Boundary | None) -> None:
    """Set the boundary and what is derived from it."""
    project.geometry = None if boundary is None else boundary.text
    project.area_m2 = None if boundary is None else boundary.area_m2
    bounds = (None, None, None, None) if boundary is None else boundary.bounds
    project.west, project.south, project.east, project.north = bounds


def set_search_text(project: Project) -> None:
    """Set the columns that names are sorted by and that are searched."""
    project.name_key = fold(project.name)
    project.search_text = searchable(project.name, project.description)


def changes_of(
    before: Mapping[str, Any], after: Mapping[str, Any], boundary_changed: bool
) -> dict[str, Any]:
    """What differs, as ``{field: {from, to}}``; of a boundary only that it changed, and the areas.

    Args:
        before: the record of the project as it was.
        after: likewise as it is.
    """
    changes: dict[str, Any] = dict(changed_fields(PROJECT, before, after))
    if boundary_changed:
        areas = {"from": before["area_hectares"], "to": after["area_hectares"]}
        changes["geometry"] = {"changed": True}
        changes["area_hectares"] = areas
    return changes
