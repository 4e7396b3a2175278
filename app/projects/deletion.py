"""Deleting the rows of a project: few of them at a time, many in batches by a job.

Until the job has deleted them all, the project is marked as deleted, and invisible with its assets
and boundaries (``app.auth.tenant``). If a job is killed, the next one continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, func

from app.auth.tenant import stored_rows_of
from app.db.batched_deletion import BATCH_BYTES, BATCH_ROWS, delete_batches
from app.db.column_types import Base, byte_length
from app.db.extensions import db
from app.models import Asset, BoundaryEntry, Project
from app.values import clock

_ASSET_BYTES: Final = byte_length(Asset.metadata_json)


class ProjectContents(NamedTuple):
    """The number of a project's assets and boundaries, and their bytes without the present
    boundary."""

    rows: int
    stored_bytes: int


def contents_of(project: Project) -> ProjectContents:
    """Count the contents of a project in the current transaction."""
    assets, asset_bytes = _count_and_size(_asset_rows(project.account_id, project.id), _ASSET_BYTES)
    boundaries = _boundary_rows(project.account_id, project.id)
    entries, former_bytes = _count_and_size(boundaries, BoundaryEntry.stored_bytes)
    return ProjectContents(assets + entries, asset_bytes + former_bytes)


def delete_project_rows(project: Project, contents: ProjectContents) -> None:
    """Delete a locked project with its contents, or mark it for the job. Its slug and external id
    become free."""
    if contents.rows <= BATCH_ROWS and contents.stored_bytes <= BATCH_BYTES:
        db.session.delete(project)  # the database deletes what refers to it
    else:
        project.deleted_at = clock.now()
        project.slug, project.external_id = project.id, None  # no slug has an underscore


def delete_in_steps(account_id: str, project_id: str | None = None) -> Iterator[None]:
    """Delete a project with its contents. The caller commits after each step.

    Args:
        project_id: None for all projects of the account.
    """
    yield from delete_batches(Asset, _asset_rows(account_id, project_id), _ASSET_BYTES)
    former = _boundary_rows(account_id, project_id).where(BoundaryEntry.stored_bytes > 0)
    yield from delete_batches(BoundaryEntry, former, BoundaryEntry.stored_bytes)
    own = _project_rows(account_id, Project, Project.id, project_id)
    yield from delete_batches(Project, own, Project.stored_bytes)


def _asset_rows(account_id: str, project_id: str | None) -> Select[Any]:
    return _project_rows(account_id, Asset, Asset.project_id, project_id)


def _boundary_rows(account_id: str, project_id: str | None) -> Select[Any]:
    return _project_rows(account_id, BoundaryEntry, BoundaryEntry.project_id, project_id)


def _project_rows(
    account_id: str, model: type[Base], column: Any, project_id: str | None
) -> Select[Any]:
    rows = stored_rows_of(account_id, model)
    return rows if project_id is None else rows.where(column == project_id)


def _count_and_size(rows: Select[Any], size: Any) -> tuple[int, int]:
    """Return (number of rows, sum of their sizes)."""
    total = rows.with_only_columns(func.count(), func.sum(size))
    number, size = db.session.execute(total).one()
    return number, int(size or 0)
