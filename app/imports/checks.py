"""Checks of imports: permission, project, choices, and the number of unfinished ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.auth.guard import require_permission, require_project
from app.auth.principal import Principal
from app.http.errors import Conflict, InvalidField, NotFound
from app.imports.feature_rows import count_states, feature_numbers
from app.imports.features.mapping import mapped_fields
from app.imports.listing import replaceable_import
from app.models import Import
from app.policy.imports import GEOMETRY_COLUMNS
from app.projects.lookup import check_project

_GEOMETRY_COMBINATIONS: Final[tuple[set[str], ...]] = (
    set(),
    {"geometry"},
    {"latitude", "longitude"},
    {"easting", "northing"},
    {"easting", "northing", "zone"},
)
# Choices that give the features other numbers.
RENUMBERING_CHOICES: Final = frozenset({"layer", "kind", "corners_by", "points_as_plots", "points"})
_WRONG_COLUMNS: Final = (
    "Geometries are read from geometry alone, from latitude and longitude, or from easting and "
    "northing, perhaps with zone."
)


def check_new_import(
    principal: Principal, *, kind: str, project_id: str | None = None, **choices: Any
) -> None:
    """Raise the errors of ``create_import``."""
    check_kind(principal, kind, project_id, points_as_plots=points_become_assets(choices))
    check_choices(kind, choices)
    replaceable_import(principal)


def points_become_assets(choices: Mapping[str, Any], former: bool | None = None) -> bool | None:
    """``points_as_plots`` as the choices have it, or as ``points`` = "assets" implies it."""
    if "points" in choices and "points_as_plots" not in choices:
        return True if choices["points"] else None
    as_plots: bool | None = choices.get("points_as_plots", former)
    return as_plots


def check_kind(
    principal: Principal, kind: str, project_id: str | None, *, points_as_plots: bool | None = None
) -> None:
    """Raise Forbidden if the credential may not write this kind, and ValidationFailed if the kind
    and the project do not go together."""
    require_permission(principal, f"{kind}:write")
    if kind == "projects":
        require_project(principal, None)
        if points_as_plots:
            require_permission(principal, "assets:write")
    elif points_as_plots is not None:
        message = "All points become assets. Leave points_as_plots out, or import projects."
        raise InvalidField("points_as_plots", message, "unknown")
    _check_project(principal, kind, project_id, has_plots=bool(points_as_plots))


def _check_project(
    principal: Principal, kind: str, project_id: str | None, *, has_plots: bool
) -> None:
    if kind == "projects":
        if project_id is not None and not has_plots:
            message = "Only assets and plots have a project. For plots, set points_as_plots."
            raise InvalidField("project_id", message, "unknown")
        if project_id is None:
            return
    if project_id is None:
        message = "Assets need the id of the project that they are imported into."
        raise InvalidField("project_id", message, "required")
    try:
        check_project(principal, project_id)
    except NotFound:
        raise InvalidField("project_id", "The account has no such project.", "not_found") from None


def check_choices(kind: str, choices: Mapping[str, Any]) -> None:
    """Raise ValidationFailed for choices that imports of this kind do not have."""
    fields = mapped_fields(kind)
    mapping = choices.get("mapping") or {}
    for name in mapping:
        if name not in (*fields, *GEOMETRY_COLUMNS, "metadata"):
            message = f"{kind.capitalize()} have no {name}. Their fields are: {', '.join(fields)}."
            raise InvalidField("mapping", message, "unknown")
    if {name for name in GEOMETRY_COLUMNS if mapping.get(name)} not in _GEOMETRY_COMBINATIONS:
        raise InvalidField("mapping", _WRONG_COLUMNS, "invalid")
    if kind == "assets" and choices.get("corners_by") is not None:
        raise InvalidField("corners_by", "Only boundaries of projects have corners.", "unknown")


def check_features(import_: Import, choices: Mapping[str, Any]) -> None:
    """Raise ValidationFailed if features to leave out, or to name, are not in the import, or the
    other choices give them other numbers."""
    for field in ("left_out", "names"):
        if not choices.get(field):
            continue
        if RENUMBERING_CHOICES & choices.keys():
            message = (
                f"These choices change the features. Send {field} when the file is read again."
            )
            raise InvalidField(field, message, "invalid")
        numbers = set(map(int, choices[field]))
        if unknown := numbers - feature_numbers(import_.account_id, import_.id):
            raise InvalidField(field, f"The import has no feature {min(unknown)}.", "not_found")


def check_nothing_written(import_: Import) -> None:
    """Raise Conflict if the import has written features: it could not be undone anymore."""
    if any(count_states(import_.account_id, import_.id).values()):
        raise Conflict(
            "features_written",
            "status",
            "This import has written some features before it failed. Undo it first.",
        )
