"""Projects as targets of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.transactions import CompiledChange
from app.geometry import Boundary, measured_boundary
from app.http.errors import NotFound
from app.imports.features import project_lookup
from app.imports.features.candidates import Candidate
from app.imports.features.decisions import CannotUndo, Match, WrittenTarget
from app.imports.features.project_matching import ProjectMatcher
from app.models import Asset
from app.projects.boundary_history.comparing import BoundaryComparison, compare_ahead
from app.projects.lookup import lock_project
from app.projects.service import create_project, remove_project, update_project
from app.values.clock import format_time, parse_time

_HAS_ASSETS: Final = CompiledChange(  # after those that the transaction has deleted
    columns_of(Asset, Asset.id).where(Asset.project_id == bindparam("project_id")).limit(1)
)
_SOURCE: Final = "import"
_CHANGED_SINCE: Final = "The project was changed after the import."


class FormerBoundary(NamedTuple):
    """A boundary that an undo restores, and its comparison with the present one."""

    boundary: Boundary
    comparison: BoundaryComparison | None


def former_boundary(account_id: str, row: Any) -> FormerBoundary | None:
    """The boundary that an undo of a written feature restores, if any, for ``Targets.undo``."""
    text = (row.before or {}).get("geometry")
    if text is None:
        return None
    boundary = measured_boundary(text)
    return FormerBoundary(boundary, compare_ahead(account_id, row.target_id, boundary))


@dataclass(frozen=True, slots=True)
class ProjectTargets:
    """Writes features as projects of an account."""

    def create(self, principal: Principal, candidate: Candidate, name: str) -> WrittenTarget:
        values = {**candidate.columns, "name": name, "geometry": candidate.boundary}
        project = create_project(principal, source=_SOURCE, **values)
        return WrittenTarget(project["id"], name, parse_time(project["updated_at"]), None)

    def change(
        self, principal: Principal, candidate: Candidate, target_id: str, match: Match, ahead: Any
    ) -> WrittenTarget | None:
        """Change a project. Returns None if nothing is left to change."""
        row = project_lookup.with_id(principal.account_id, target_id)
        if row is None:
            raise NotFound
        values = ProjectMatcher(principal.account_id, match).changes(row, candidate)
        if not values:
            return None
        before = {name: getattr(row, name) for name in values}
        project = update_project(principal, row.id, values, source=_SOURCE, compared=ahead)
        return WrittenTarget(row.id, project.name, project.updated_at, before)

    def undo(self, principal: Principal, row: Any, ahead: FormerBoundary | None = None) -> None:
        try:
            project = lock_project(principal.account_id, row.target_id)
        except NotFound:
            if row.before is None:
                return
            raise CannotUndo("The project was deleted after the import.") from None
        if format_time(project.updated_at) != row.written_at:
            raise CannotUndo(_CHANGED_SINCE)
        if row.before is None:
            own = {"account_id": principal.account_id, "project_id": project.id}
            if _HAS_ASSETS.first(own):
                raise CannotUndo("Assets were added since; the project was kept.")
            remove_project(principal, project)
            return
        before, compared = row.before, None
        if ahead is not None:
            before, compared = before | {"geometry": ahead.boundary}, ahead.comparison
        update_project(
            principal, project.id, before, source=_SOURCE, compared=compared, is_bounded=False
        )


PROJECTS: Final = ProjectTargets()
