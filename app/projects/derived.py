"""Derived columns of a project, and its changes as the audit log has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.geometry import Boundary
from app.policy import kinds
from app.policy.countries import DATA_VERSION
from app.policy.fields import PROJECT
from app.projects.record import SIDES
from app.values.folding import fold_text, searchable_text
from app.values.records import changed_fields


def geometry_columns(boundary: Boundary | None) -> dict[str, Any]:
    """The columns of a boundary, its area, its box and its country."""
    bounds = (None, None, None, None) if boundary is None else boundary.bounds
    return {
        "geometry": None if boundary is None else boundary.text,
        "area_m2": None if boundary is None else boundary.area_m2,
        **dict(zip(SIDES, bounds, strict=True)),
        **country_columns(boundary),
    }


def country_columns(boundary: Boundary | None) -> dict[str, Any]:
    """The country of a boundary and the version of its data. The version is None without a
    boundary, until the country is derived, and if the data is not installed."""
    if boundary is None or boundary.country is False:
        return {"country": None, "country_version": None}
    return {"country": boundary.country, "country_version": DATA_VERSION}


def stored_bytes(geometry: str | None, metadata: str | None) -> int:
    """The bytes that a project takes of the account's quota."""
    return sum(len(text.encode()) for text in (geometry, metadata) if text is not None)


def search_columns(name: str, description: str | None, external_id: str | None) -> dict[str, str]:
    """The columns for sorting by name and for searching."""
    ids = () if external_id is None else (external_id,)
    return {"name_key": fold_text(name), "search_text": searchable_text(name, description, *ids)}


def changes_of(
    before: Mapping[str, Any], after: Mapping[str, Any], boundary_changed: bool
) -> dict[str, Any]:
    """Return the changed fields as ``{field: {from, to}}``; for a boundary only that it changed,
    and the areas.

    Args:
        before, after: the records of the project.
    """
    changes: dict[str, Any] = dict(changed_fields(PROJECT, before, after))
    if boundary_changed:
        areas = {"from": before["area_hectares"], "to": after["area_hectares"]}
        changes["geometry"] = {"changed": True}
        changes["area_hectares"] = areas
    return changes


def first_values(record: Mapping[str, Any], boundary: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a new project, as the changes of its entry in the audit log.

    Args:
        boundary: the description of its boundary in the entry, if it has one.
    """
    left_out = (kinds.ID, kinds.TIME, kinds.BOUNDARY)
    names = [field.name for field in PROJECT if field.kind not in left_out]
    values: dict[str, Any] = {
        name: {"from": None, "to": record[name]} for name in names if record[name] is not None
    }
    return values if boundary is None else values | {"geometry": boundary}
