"""A project as it is shown: the same fields whether it comes from a row or from an object."""

from __future__ import annotations

from typing import Any, Final

from app.http.errors import NotFound
from app.models import Project
from app.values.clock import format_value
from app.values.strict_json import Fragment, dumps

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
SUMMARY_COLUMNS: Final = (
    Project.id,
    Project.name,
    Project.slug,
    Project.description,
    Project.west,
    Project.south,
    Project.east,
    Project.north,
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


def row_summary(row: tuple[Any, ...]) -> dict[str, Any]:
    """Likewise from a row of ``SUMMARY_COLUMNS``: in place of the geometry the box around it.

    ``bbox`` is ``[west, south, east, north]`` as GeoJSON has it (RFC 7946, section 5): west past
    east where it crosses the antimeridian.
    """
    id_, name, slug, description, west, south, east, north, area_m2, status, *times = row
    record = row_record((id_, name, slug, description, None, area_m2, status, *times))
    del record["geometry"]
    bbox = None if west is None else [west, south, east - 360 if east > 180 else east, north]
    return record | {"bbox": bbox}


def project_record(project: Project) -> dict[str, Any]:
    """The fields of a project."""
    return row_record(tuple(format_value(getattr(project, column.key)) for column in COLUMNS))


def project_data(project: Project) -> bytes:
    """The bytes that the entity tag of a project is made of."""
    return dumps(project_record(project))


def not_found() -> NotFound:
    """The refusal of an id by which the account has no project."""
    return NotFound("There is no such project.")
