"""Listing and reading the boundaries of a project, former ones included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.http.errors import NotFound
from app.lists.pages import newest_first, page_rows
from app.lists.scanning import KeyedRows, Reader
from app.models import BoundaryEntry, Project
from app.values.ids import is_id
from app.values.records import hectares
from app.values.strict_json import Fragment

COLUMNS: Final = (
    BoundaryEntry.id,
    BoundaryEntry.area_m2,
    BoundaryEntry.added_m2,
    BoundaryEntry.removed_m2,
    BoundaryEntry.created_at,
    BoundaryEntry.created_by,
    BoundaryEntry.created_by_email,
    BoundaryEntry.source,
    BoundaryEntry.replaced_at,
)
_OF_PROJECT: Final = BoundaryEntry.project_id == bindparam("project_id")
_IS_IT: Final = BoundaryEntry.id == bindparam("boundary_id")
_COUNT: Final = CompiledQuery(
    columns_of(BoundaryEntry).add_columns(func.count().label("total")).where(_OF_PROJECT)
)
_EXISTS: Final = CompiledQuery(
    columns_of(BoundaryEntry, BoundaryEntry.id).where(_OF_PROJECT, _IS_IT)
)
_ONE: Final = CompiledQuery(
    columns_of(BoundaryEntry, *COLUMNS, BoundaryEntry.geometry)
    .add_columns(Project.geometry.label("present"))
    .where(
        _OF_PROJECT,
        _IS_IT,
        Project.id == BoundaryEntry.project_id,
        Project.account_id == bindparam("account_id"),
    )
)


_PROJECTS: Final = KeyedRows(columns_of(Project, Project.id), Project.created_at, Project.id)


_OF_PROJECTS: Final = is_among_ids(BoundaryEntry.project_id.expression, "project_ids")
_READABLE: Final = CompiledQuery(
    columns_of(BoundaryEntry, BoundaryEntry.id).where(
        _OF_PROJECTS,
        is_among_ids(BoundaryEntry.id.expression, "boundary_ids"),
        BoundaryEntry.geometry.is_not(None) | BoundaryEntry.replaced_at.is_(None),
    )
)
_SCANNED: Final = KeyedRows(
    columns_of(BoundaryEntry, *COLUMNS, BoundaryEntry.project_id, BoundaryEntry.geometry).where(
        _OF_PROJECTS
    ),
    *(BoundaryEntry.project_id, BoundaryEntry.id),
    size=BoundaryEntry.stored_bytes,
)


class Entry(NamedTuple):
    """A boundary of a project, present or former. ``text`` is None if it is lost."""

    record: dict[str, Any]
    is_present: bool
    text: str | None


def list_entries(
    account_id: str, project_id: str, page: int, per_page: int
) -> tuple[list[dict[str, Any]], int]:
    """Return (records of a page without geometry, newest first, number on all pages)."""
    values: dict[str, Any] = {"account_id": account_id, "project_id": project_id}
    total = int(_COUNT.scalar(**values))
    rows = page_rows(
        page, per_page, total, lambda span: _boundaries_page_query(span.backwards), values
    )
    return [entry_record(*row) for row in rows], total


def scan_boundaries(read: Reader, account_id: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the records of all boundaries with ``project_id`` and ``geometry`` in batches, sorted
    by project. The geometry of the present one, which is the project's, is None."""
    for projects in _PROJECTS.batches(read, account_id=account_id):
        ids = [project.id for project in projects]
        for rows in _SCANNED.batches(read, account_id=account_id, project_ids=ids):
            yield list(map(_scanned_record, rows))


def read_entry(account_id: str, project_id: str, boundary_id: str) -> dict[str, Any]:
    """The record of a boundary with its geometry. Raises NotFound."""
    entry = find_entry(account_id, project_id, boundary_id)
    return entry.record | {"geometry": None if entry.text is None else Fragment(entry.text)}


def readable_boundary_ids(
    account_id: str, project_ids: Sequence[str], boundary_ids: Sequence[str]
) -> frozenset[str]:
    """The ids of those boundaries of some projects that can be read."""
    values = {"project_ids": project_ids, "boundary_ids": boundary_ids}
    return frozenset(row[0] for row in _READABLE.tuples(account_id=account_id, **values))


def check_entry(principal: Principal, project_id: str, boundary_id: str) -> None:
    """Raise NotFound if the project has no such boundary."""
    if _find_boundary(_EXISTS, principal.account_id, project_id, boundary_id) is None:
        raise _not_found()


def find_entry(account_id: str, project_id: str, boundary_id: str) -> Entry:
    """A boundary of a project, present or former. Raises NotFound."""
    row = _find_boundary(_ONE, account_id, project_id, boundary_id)
    if row is None:
        raise _not_found()
    is_present = row.replaced_at is None
    text = row.present if is_present else row.geometry
    return Entry(entry_record(*row[: len(COLUMNS)]), is_present, text)


def _find_boundary(query: CompiledQuery, account_id: str, project_id: str, boundary_id: str) -> Any:
    if not (is_id("project", project_id) and is_id("boundary", boundary_id)):
        return None
    return query.first(account_id=account_id, project_id=project_id, boundary_id=boundary_id)


def _not_found() -> NotFound:
    return NotFound("This boundary does not exist in this project.")


def _scanned_record(row: Any) -> dict[str, Any]:
    geometry = None if row.geometry is None else Fragment(row.geometry)
    entry = entry_record(*row[: len(COLUMNS)])
    return {"project_id": row.project_id, **entry, "geometry": geometry}


@cache
def _boundaries_page_query(backwards: bool) -> CompiledQuery:
    keys = columns_of(BoundaryEntry, BoundaryEntry.id).where(_OF_PROJECT)
    rows = columns_of(BoundaryEntry, *COLUMNS).where(_OF_PROJECT)
    return newest_first(keys, rows, (BoundaryEntry.id.expression,), backwards=backwards)


def entry_record(
    id_: str,
    area_m2: int,
    added_m2: int | None,
    removed_m2: int | None,
    created_at: str,
    created_by: str | None,
    email: str | None,
    source: str | None,
    replaced_at: str | None,
) -> dict[str, Any]:
    """The record of a boundary without its geometry, from a row of ``COLUMNS``."""
    return {
        "id": id_,
        "area_hectares": area_m2 / 10_000,
        "added_hectares": hectares(added_m2),
        "removed_hectares": hectares(removed_m2),
        "source": source,
        "created_at": created_at,
        "created_by": None if created_by is None else {"id": created_by, "email": email},
        "replaced_at": replaced_at,
    }
