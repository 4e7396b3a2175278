"""A project as it is shown: the same fields whether it comes from a row or from an object."""

from __future__ import annotations

from typing import Any, Final

from app.core.clock import shown_value
from app.core.strict_json import Fragment, dumps
from app.models import Project

COLUMNS: Final = (
    Project.id,
    Project.name,
    Project.slug,
    Project.description,
    Project.geometry,
    Project.area_m2,
    Project.status,
    Project.created_at,
    Project.updated_at,
)


def row_record(row: tuple[Any, ...]) -> dict[str, Any]:
    """The fields of a project from a row of ``COLUMNS``. The geometry goes out unparsed."""
    id_, name, slug, description, geometry, area_m2, status, created_at, updated_at = row
    return {
        "id": id_,
        "name": name,
        "slug": slug,
        "description": description,
        "geometry": None if geometry is None else Fragment(geometry),
        "area_hectares": None if area_m2 is None else area_m2 / 10_000,
        "status": status,
        "created_at": created_at,
        "updated_at": updated_at,
    }


def project_record(project: Project) -> dict[str, Any]:
    """The fields of a project."""
    return row_record(tuple(shown_value(getattr(project, column.key)) for column in COLUMNS))


def project_data(project: Project) -> bytes:
    """The bytes that the entity tag of a project is made of."""
    return dumps(project_record(project))
