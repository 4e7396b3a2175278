"""A project as it is shown: the same fields whether it comes from a row or from an object."""

from __future__ import annotations

from typing import Any, Final

from app.core.clock import shown_time
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


def project_record(row: Any) -> dict[str, Any]:
    """The fields of a project. The stored geometry goes out unparsed.

    Args:
        row: a row of ``COLUMNS``, or a ``Project``.
    """
    area_m2 = row.area_m2
    return {
        "id": row.id,
        "name": row.name,
        "slug": row.slug,
        "description": row.description,
        "geometry": None if row.geometry is None else Fragment(row.geometry),
        "area_hectares": None if area_m2 is None else area_m2 / 10_000,
        "status": row.status,
        "created_at": shown_time(row.created_at),
        "updated_at": shown_time(row.updated_at),
    }


def project_data(project: Project) -> bytes:
    """The bytes that the entity tag of a project is made of."""
    return dumps(project_record(project))
