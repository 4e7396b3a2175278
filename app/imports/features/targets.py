"""What the features of an import become: projects of an account, assets of one project, or both."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from pathlib import PurePath
from time import thread_time
from typing import Any, Final

from app.auth.principal import Principal
from app.imports.features.asset_targets import DEFAULT_TYPE, AssetMatcher, AssetTargets
from app.imports.features.candidates import Candidate, cut_name, one_line
from app.imports.features.decisions import Decision, Match, WrittenTarget
from app.imports.features.mapping import are_plots
from app.imports.features.project_matching import ProjectMatcher
from app.imports.features.project_targets import PROJECTS, FormerBoundary, ProjectTargets
from app.imports.features.reader_process import TooCostly
from app.policy.eudr import PLOT_TYPE
from app.policy.imports import DECIDE_SECONDS
from app.values.ids import is_id

_DEFAULT_NAME: Final = "Plots"
_TOO_SLOW: Final = (
    "Comparing the features with what the account has takes too long. Split the file into several."
)


@dataclass(slots=True)
class Matcher:
    """Decides about the features of a layer, in their order: those that become projects, and those
    that become assets.

    Decisions may take ``max_seconds`` of this thread's processor time. ``seconds`` is the time that
    they have taken.
    """

    projects: ProjectMatcher | None
    assets: AssetMatcher | None
    max_seconds: float = DECIDE_SECONDS
    seconds: float = 0.0

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport, TooCostly."""
        if self.seconds > self.max_seconds:
            raise TooCostly(_TOO_SLOW)
        matcher = self.assets if candidate.is_plot or self.projects is None else self.projects
        assert matcher is not None
        start = thread_time()
        try:
            return matcher.decide(candidate)
        finally:
            self.seconds += thread_time() - start

    def free_name(self, name: str) -> str:
        """Return a name for a new target: that of a project is followed by a number if the name is
        in use."""
        return name if self.projects is None else self.projects.free_name(name)


@dataclass(frozen=True, slots=True)
class Targets:
    """Writes features. With projects and assets, those that are plots become assets."""

    projects: ProjectTargets | None = PROJECTS
    assets: AssetTargets | None = None

    def matcher(
        self,
        account_id: str,
        match: Match,
        *,
        repeated_areas: Collection[str] = (),
        repeated_points: Collection[str] = (),
        taken_ids: Container[str] = (),
    ) -> Matcher:
        """The matcher for the features of one layer.

        Args:
            repeated_areas, repeated_points: folded names of several features.
            taken_ids: of the targets of other features of the import.
        """
        areas, points = (match, repeated_areas, taken_ids), (match, repeated_points, taken_ids)
        return Matcher(
            None if self.projects is None else ProjectMatcher(account_id, *areas),
            None if self.assets is None else self.assets.matcher(account_id, *points),
        )

    def create(self, principal: Principal, candidate: Candidate, name: str) -> WrittenTarget:
        """Create the target of a feature. Raises ApiError."""
        return self._for(candidate.is_plot).create(principal, candidate, name)

    def change(
        self, principal: Principal, candidate: Candidate, target_id: str, match: Match, ahead: Any
    ) -> WrittenTarget | None:
        """Change the target of a feature. Returns None if nothing is left to change. Raises
        ApiError. ``ahead``: the boundary of a project, compared with its present one."""
        targets = self._for(candidate.is_plot)
        return targets.change(principal, candidate, target_id, match, ahead)

    def undo(self, principal: Principal, row: Any, ahead: FormerBoundary | None = None) -> None:
        """Undo what was written of a feature. ``ahead``: its ``former_boundary``. Raises
        CannotUndo."""
        self._for(is_id("asset", row.target_id)).undo(principal, row, ahead)

    def _for(self, is_asset: bool) -> ProjectTargets | AssetTargets:
        targets = self.assets if is_asset or self.projects is None else self.projects
        assert targets is not None
        return targets


def import_targets(row: Any) -> Targets:
    """The targets of an import's features.

    Args:
        row: an import, or a row with its ``kind``, ``project_id``, ``points_as_plots``,
            ``points``, ``layers`` and ``layer``.
    """
    project_id = row.project_id or ""
    if row.kind == "assets":
        columns = [layer["columns"] for layer in row.layers if layer["name"] == row.layer]
        has_plots = bool(columns) and are_plots(columns[0])
        return Targets(None, AssetTargets(project_id, PLOT_TYPE if has_plots else DEFAULT_TYPE))
    if row.points_as_plots:
        plot_type = PLOT_TYPE if row.points is None else DEFAULT_TYPE
        return Targets(assets=AssetTargets(project_id, plot_type))
    return Targets()


def project_name_of(filename: str) -> str:
    """The name of a new project for the plots of a file: its name without the ending."""
    return cut_name(one_line(PurePath(filename).stem)) or _DEFAULT_NAME
