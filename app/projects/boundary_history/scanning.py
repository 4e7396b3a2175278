"""All boundaries that the projects of an account have had, for files that have all of them."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from app.auth.tenant import columns_of
from app.db.queries import engine
from app.db.search_index import id_values, is_among_ids
from app.lists.batches import Batches, KeyedRows, NestedBatches, Readable
from app.models import BoundaryEntry, Project
from app.projects.boundary_history.reading import COLUMNS, entry_record
from app.values.strict_json import Fragment

_PROJECTS: Final = KeyedRows(columns_of(Project, Project.id), Project.created_at, Project.id)


def scan_boundaries(account_id: str) -> Readable[dict[str, Any]]:
    """The records of all boundaries with ``project_id`` and ``geometry``, those of a project one
    after the other. The present one has no geometry: that is the project's."""

    def begin(project_ids: list[str]) -> Readable[dict[str, Any]]:
        dialect = engine().dialect.name
        ids = id_values(project_ids, dialect)
        return Batches(_entries(dialect), _record, account_id=account_id, project_ids=ids)

    projects = Batches(_PROJECTS, lambda row: str(row.id), account_id=account_id)
    return NestedBatches(projects, begin)


@cache
def _entries(dialect: str) -> KeyedRows:
    rows = columns_of(BoundaryEntry, *COLUMNS, BoundaryEntry.project_id, BoundaryEntry.geometry)
    of_projects = is_among_ids(BoundaryEntry.project_id.expression, dialect, "project_ids")
    return KeyedRows(
        rows.where(of_projects),
        BoundaryEntry.project_id,
        BoundaryEntry.id,
        size=BoundaryEntry.stored_bytes,
    )


def _record(row: Any) -> dict[str, Any]:
    geometry = None if row.geometry is None else Fragment(row.geometry)
    entry = entry_record(*row[: len(COLUMNS)])
    return {"project_id": row.project_id, **entry, "geometry": geometry}
