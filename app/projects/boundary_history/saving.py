"""Saving the boundaries of projects, in the transaction of each change.

The text of the present boundary is not in its entry, but in the project's row. A boundary that was
changed with SQL is saved when it is reported (``app.database_webhook``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.geometry.shapes import UNKNOWN, AreaDifference
from app.models import Project
from app.projects.boundary_history import entries, shapes
from app.projects.boundary_history.comparing import BoundaryComparison, compare_now
from app.projects.boundary_history.entries import (
    Author,
    StoredBoundary,
    boundary_checksum,
    is_entry_of,
)
from app.values.records import hectares

BoundaryWithId = tuple[str | None, StoredBoundary]  # with the id of its entry
Description = dict[str, Any]

_BY_SQL: Final = Author(None, None, "database")


def stored_boundary(project: Project) -> StoredBoundary | None:
    """The boundary that a project has now."""
    return (
        None if project.geometry is None else StoredBoundary(project.geometry, project.area_m2 or 0)
    )


class SavedBoundary(NamedTuple):
    """A saved boundary: the bytes stored in addition, and the change for the audit log."""

    stored_bytes: int
    description: Description


def save_first_boundary(project: Mapping[str, Any], author: Author) -> Description | None:
    """Save the boundary of a new project, if it has one. Returns its description for the audit log.

    Args:
        project: the columns of its row.
    """
    if project["geometry"] is not None:
        boundary = StoredBoundary(project["geometry"], project["area_m2"])
        key = (project["account_id"], project["id"])
        change = AreaDifference(boundary.area_m2, 0)
        moment = project["created_at"]
        entry_id = entries.insert_entry(key, moment, boundary, author, change)
        return _describe_change(None, (entry_id, boundary), change)
    return None


def save_changed_boundary(
    project: Project,
    former: StoredBoundary | None,
    author: Author,
    ahead: BoundaryComparison | None = None,
) -> SavedBoundary:
    """Save the changed boundary of a project.

    Args:
        project: the changed project, written to the database.
        former: the boundary before the change.
        ahead: the comparison from before the transaction.
    """
    former_id = entries.close_present(project, former and former.text)
    saved, change = _save_present(project, author, former, ahead)
    before = None if former is None else (former_id, former)
    # Without an entry, it was set with SQL and never reported: it is not stored.
    stored_bytes = len(former.text.encode()) if former and former_id else 0
    return SavedBoundary(stored_bytes, _describe_change(before, saved, change))


def is_saved(project: Project) -> bool:
    """True if the present entry has the project's boundary."""
    entry, boundary = entries.find_present(project), stored_boundary(project)
    if entry is None or boundary is None:
        return entry is None and boundary is None
    return is_entry_of(entry, boundary)


def save_boundary_changed_by_sql(project: Project, reported: object) -> None:
    """Save the boundary of a project that was changed with SQL.

    Args:
        reported: the text of the former boundary. It is stored if the present entry has its
            checksum.
    """
    entry, former = entries.find_present(project), None
    if (
        entry is not None
        and isinstance(reported, str)
        and entry.checksum == boundary_checksum(reported)
    ):
        former = StoredBoundary(reported, entry.area_m2)
    entries.close_present(project, former and former.text)
    is_comparable = former is not None or entry is None
    _save_present(project, _BY_SQL, former, change=None if is_comparable else UNKNOWN)


def renew_shapes(project: Project) -> None:
    """Let the job make the shapes of the present boundary again."""
    shapes.drop_shapes(project)
    entries.reopen_present(project)


def _save_present(
    project: Project,
    author: Author,
    former: StoredBoundary | None,
    ahead: BoundaryComparison | None = None,
    change: AreaDifference | None = None,
) -> tuple[BoundaryWithId | None, AreaDifference]:
    """Save the present boundary of a project, if any. Returns it with its difference.

    Args:
        change: the difference from the former one; None: compare them.
    """
    shapes.drop_shapes(project)
    boundary = stored_boundary(project)
    if boundary is None:
        return None, AreaDifference(0, former.area_m2 if former else 0)
    if change is None and former is not None:
        change = compare_now(former.text, boundary.text, ahead)
    change = change or AreaDifference(boundary.area_m2, 0)
    key, moment = (project.account_id, project.id), project.updated_at
    entry_id = entries.insert_entry(key, moment, boundary, author, change)
    return (entry_id, boundary), change


def _describe_change(
    former: BoundaryWithId | None, present: BoundaryWithId | None, change: AreaDifference
) -> Description:
    """Describe a change of a boundary for the audit log, without coordinates.

    Returns:
        ``from`` and ``to``, each null or with ``boundary_id`` and the ``sha256`` of the GeoJSON
        text, ``added_hectares`` and ``removed_hectares``, which are null if the comparison
        was too expensive.
    """
    return {
        "from": _boundary_reference(former),
        "to": _boundary_reference(present),
        "added_hectares": hectares(change.added_m2),
        "removed_hectares": hectares(change.removed_m2),
    }


def _boundary_reference(named: BoundaryWithId | None) -> dict[str, Any] | None:
    if named is None:
        return None
    entry_id, boundary = named
    return {
        "boundary_id": entry_id,
        "sha256": hashlib.sha256(boundary.text.encode()).hexdigest(),
    }
