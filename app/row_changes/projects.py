"""Rows of projects that were changed with SQL."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.geometry import Boundary, read_boundary
from app.models import Project
from app.policy.bounds import (
    DESCRIPTION_LENGTH,
    GEOMETRY_POSITIONS,
    NAME_LENGTH,
    PROJECT_STATUSES,
    SLUG_LENGTH,
)
from app.projects.derived import set_geometry, set_search_text
from app.projects.record import project_record
from app.row_changes.change import Columns, texts, times
from app.row_changes.row_validator import RowValidator
from app.row_changes.table_adapter import Boundaries, TableAdapter
from app.values.fields import Text

_NAME: Final = Text(shortest=1, longest=NAME_LENGTH)
_SLUG: Final = Text(shortest=1, longest=SLUG_LENGTH)
_DESCRIPTION: Final = Text(longest=DESCRIPTION_LENGTH, allow_none=True)
_GEOMETRY = CompiledQuery(
    columns_of(Project, Project.geometry).where(Project.id == bindparam("project_id"))
)


class ProjectAdapter(TableAdapter):
    name: ClassVar = "project"
    model: ClassVar = Project

    def look_at(self, account_id: str, row_id: str) -> Boundaries:
        row = _GEOMETRY.first(account_id=account_id, project_id=row_id)
        boundary = None if row is None else _boundary(row.geometry)
        return {} if boundary is None else {row.geometry: boundary}

    def recompute_derived(self, row: Project, looked_at: Boundaries) -> tuple[bool, bool]:
        """Whatever the service writes has its box, and its text the form of the service: where they
        are not so, somebody else has written the boundary."""
        before, placed_before = _derived(row), _placed(row)
        judge = RowValidator()
        judge.value("name", _NAME, row.name)
        judge.value("slug", _SLUG, row.slug)
        judge.value("description", _DESCRIPTION, row.description)
        boundary = looked_at.get(row.geometry or "")
        if boundary is None:
            boundary = judge.document("geometry", row.geometry, _read)
        judge.finish()
        set_search_text(row)
        set_geometry(row, boundary)
        return _derived(row) != before, _placed(row) != placed_before

    def record(self, row: Project) -> dict[str, Any]:
        record = project_record(row)
        del record["geometry"]
        return record

    def shown(self, columns: Columns) -> dict[str, Any]:
        shown = texts(columns, "name", "slug") | texts(columns, "description", nullable=True)
        if columns.get("status") in PROJECT_STATUSES:
            shown["status"] = columns["status"]
        area = columns.get("area_m2", ...)
        if area is None or (type(area) is int and area >= 0):
            shown["area_hectares"] = None if area is None else area / 10_000
        return shown | times(columns, "created_at", "updated_at")

    def has_moved(self, columns: Columns, row: Project) -> bool:
        told = columns.get("geometry", ...)
        if told is None:
            return row.geometry is not None
        if not isinstance(told, str) or told == row.geometry:
            return False
        boundary = _boundary(told)
        return boundary is None or boundary.text != row.geometry


def _boundary(text: str | None) -> Boundary | None:
    """The boundary that a text holds, or None when it holds no valid one."""
    return RowValidator().document("geometry", text, _read)


def _read(value: Any) -> Boundary:
    return read_boundary(value, max_positions=GEOMETRY_POSITIONS)


def _derived(row: Project) -> tuple[Any, ...]:
    return row.name_key, row.search_text, row.area_m2, *_placed(row)


def _placed(row: Project) -> tuple[Any, ...]:
    return row.geometry, row.west, row.south, row.east, row.north
