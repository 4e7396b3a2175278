"""Rows of projects that were changed with SQL."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final

from sqlalchemy import bindparam

from app.api.expensive import expensive_work
from app.auth.tenant import columns_of
from app.database_webhook.change import Columns
from app.database_webhook.row_validator import RowValidator
from app.database_webhook.table_adapter import Boundaries, TableAdapter
from app.db.queries import CompiledQuery
from app.geometry import Boundary, read_boundary
from app.models import Project
from app.policy.fields import PROJECT
from app.projects.boundary_history.recording import record_change_by_sql
from app.projects.derived import geometry_columns, search_columns, stored_bytes
from app.projects.record import project_record
from app.values.records import set_columns

_GEOMETRY = CompiledQuery(
    columns_of(Project, Project.geometry).where(Project.id == bindparam("project_id"))
)
_read: Final = partial(read_boundary, expensive=expensive_work)


class ProjectAdapter(TableAdapter):
    name: ClassVar = "project"
    model: ClassVar = Project
    fields: ClassVar = PROJECT
    counted: ClassVar = ("account_id", "status", "area_m2", "geometry", "metadata")

    def read_boundary(self, account_id: str, row_id: str) -> Boundaries:
        row = _GEOMETRY.first(account_id=account_id, project_id=row_id)
        boundary = None if row is None else _boundary(row.geometry)
        return {} if boundary is None else {row.geometry: boundary}

    def recompute_derived(self, row: Project, boundaries: Boundaries) -> tuple[bool, bool]:
        """The service writes a boundary in its own form, and its box with it. Where they are not
        so, somebody else has written the boundary."""
        before, geometry_before = _derived(row), _geometry(row)
        validator = RowValidator()
        validator.check(PROJECT, row)
        boundary = boundaries.get(row.geometry or "")
        if boundary is None:
            boundary = validator.document("geometry", row.geometry, _read)
        validator.finish()
        set_columns(row, search_columns(row.name, row.description) | geometry_columns(boundary))
        row.stored_bytes = stored_bytes(row.geometry, row.metadata_json)
        return _derived(row) != before, _geometry(row) != geometry_before

    def record(self, row: Project) -> dict[str, Any]:
        record = project_record(row)
        del record["geometry"]
        return record

    def keep_history(self, row: Project, reported: Columns, *, boundary_changed: bool) -> None:
        former = reported.get("geometry")
        former = former if isinstance(former, str) else None
        record_change_by_sql(row, former, is_changed=boundary_changed)

    def boundary_differs(self, columns: Columns, row: Project) -> bool:
        reported = columns.get("geometry", ...)
        if reported is None:
            return row.geometry is not None
        if not isinstance(reported, str) or reported == row.geometry:
            return False
        boundary = _boundary(reported)
        return boundary is None or boundary.text != row.geometry


def _boundary(text: str | None) -> Boundary | None:
    """The boundary that a text holds, or None when it holds no valid one."""
    return RowValidator().document("geometry", text, _read)


def _derived(row: Project) -> tuple[Any, ...]:
    return row.name_key, row.search_text, row.stored_bytes, row.area_m2, *_geometry(row)


def _geometry(row: Project) -> tuple[Any, ...]:
    return row.geometry, row.west, row.south, row.east, row.north
