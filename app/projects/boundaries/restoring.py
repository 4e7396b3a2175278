"""Restoring a former boundary of a project."""

from __future__ import annotations

from typing import Any, NamedTuple

from app.api.expensive import expensive_work
from app.auth.principal import Principal
from app.geometry import Boundary, GeometryInvalid, read_boundary
from app.http.errors import Conflict, Detail, ValidationFailed
from app.http.etags import ANY, IfMatch
from app.projects.boundary_history.comparing import BoundaryComparison, compare_ahead
from app.projects.boundary_history.listing import find_entry
from app.projects.record import project_record
from app.projects.service import update_project
from app.values.strict_json import loads


class Former(NamedTuple):
    """A former boundary, and the difference to the present one."""

    boundary: Boundary
    compared: BoundaryComparison | None


def read_boundary_to_restore(
    principal: Principal, project_id: str, boundary_id: str
) -> Former | None:
    """Read and compare a former boundary, before the transaction. None if it is the present one.

    Raises:
        NotFound: the project has no such boundary.
        Conflict: its shape is lost.
        ValidationFailed: it is not valid by today's rules.
        ServiceUnavailable: it is large, and too many requests are waiting.
    """
    entry = find_entry(principal.account_id, project_id, boundary_id)
    if entry.is_present:
        return None
    if entry.text is None:
        raise Conflict(
            "boundary_not_kept",
            "boundary_id",
            "The shape of this boundary was not kept, so it cannot be restored.",
        )
    try:
        boundary = read_boundary(loads(entry.text.encode()), expensive=expensive_work)
    except GeometryInvalid as error:
        details = [
            Detail(problem.field, problem.message, problem.code) for problem in error.problems
        ]
        raise ValidationFailed("This boundary is not valid.", details=details) from None
    return Former(boundary, compare_ahead(principal.account_id, project_id, boundary))


def restore_boundary(
    principal: Principal, project_id: str, former: Former | None, if_match: IfMatch = ANY
) -> dict[str, Any]:
    """Give a project its former boundary with ``update_project``. Returns its record."""
    values = {} if former is None else {"geometry": former.boundary}
    compared = None if former is None else former.compared
    project = update_project(principal, project_id, values, if_match, compared=compared)
    return project_record(project)
