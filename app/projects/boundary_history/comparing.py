"""Comparing a new boundary of a project with the former one, usually before the transaction."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

from sqlalchemy import bindparam

from app.api.expensive import expensive_work
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.geometry import Boundary
from app.geometry.shapes import UNKNOWN, AreaDifference, area_difference, shape_of, stored_shape
from app.models import Project
from app.policy.request_limits import EXPENSIVE_BODY_BYTES, OVERLAY_LOCKED_SECONDS

_GEOMETRY = CompiledQuery(
    columns_of(Project, Project.geometry).where(Project.id == bindparam("project_id"))
)


class BoundaryComparison(NamedTuple):
    """The texts of two boundaries, and their difference."""

    old: str
    new: str
    difference: AreaDifference


def compare_ahead(
    account_id: str, project_id: str, boundary: Boundary
) -> BoundaryComparison | None:
    """Compare a new boundary with the committed one, before the transaction that changes it. None
    if there is none, or it is the same.

    Raises:
        ServiceUnavailable: one of them is large, and too many requests are waiting.
    """
    row = _GEOMETRY.first(account_id=account_id, project_id=project_id)
    if row is None or row.geometry in (None, boundary.text):
        return None
    is_large = max(len(row.geometry), len(boundary.text)) > EXPENSIVE_BODY_BYTES
    with expensive_work() if is_large else nullcontext():
        old, new = stored_shape(row.geometry), shape_of(boundary.rings)
        return BoundaryComparison(row.geometry, boundary.text, area_difference(old, new))


def compare_now(old: str, new: str, ahead: BoundaryComparison | None) -> AreaDifference:
    """Compare two boundaries in the transaction.

    Uses the comparison from before it. If the boundary has changed since, only small ones are
    compared.

    Args:
        old, new: the texts of the boundaries.
    """
    if ahead is not None and (ahead.old, ahead.new) == (old, new):
        return ahead.difference
    if len(old) + len(new) > EXPENSIVE_BODY_BYTES:
        return UNKNOWN
    return area_difference(stored_shape(old), stored_shape(new), OVERLAY_LOCKED_SECONDS)
