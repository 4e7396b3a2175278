"""Records of projects, from rows or objects, with the fields that ``app.policy.fields`` lists."""

from __future__ import annotations

from typing import Any, Final

from app.geometry import Bounds, bbox_member
from app.http.errors import NotFound
from app.models import Project
from app.policy.fields import PROJECT
from app.policy.kinds import BOUNDARY
from app.values.records import columns_of_fields, object_row, row_reader
from app.values.strict_json import dumps

SIDES: Final = ("west", "south", "east", "north")
_IN_SUMMARY: Final = tuple(field for field in PROJECT if field.kind is not BOUNDARY)

COLUMNS: Final = columns_of_fields(Project, PROJECT)
SUMMARY_COLUMNS: Final = (
    *columns_of_fields(Project, _IN_SUMMARY),
    Project.west,
    Project.south,
    Project.east,
    Project.north,
)

row_record = row_reader(PROJECT)  # takes the values of COLUMNS; the geometry stays unparsed
_read_summary = row_reader(_IN_SUMMARY, *SIDES)


def row_summary(*row: Any) -> dict[str, Any]:
    """The record from the values of ``SUMMARY_COLUMNS``, with the box in place of the geometry.

    ``bbox`` is ``[west, south, east, north]`` (RFC 7946, section 5): west is greater than east if
    it crosses the antimeridian.
    """
    record = _read_summary(*row)
    west, south, east, north = (record.pop(side) for side in SIDES)
    record["bbox"] = None if west is None else bbox_member(Bounds(west, south, east, north))
    return record


def project_record(project: Project) -> dict[str, Any]:
    """The fields of a project."""
    return row_record(*object_row(project, PROJECT))


def project_data(project: Project) -> bytes:
    """The bytes that the entity tag of a project is computed from."""
    return dumps(project_record(project))


def not_found() -> NotFound:
    """The error for an id that is not one of the account's projects."""
    return NotFound("This project does not exist.")
