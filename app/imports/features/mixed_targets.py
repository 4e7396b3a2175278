"""Targets of a file whose areas become projects and whose points become plots, assets of one
project."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from app.auth.principal import Principal
from app.imports.features.asset_targets import DEFAULT_TYPE, AssetMatcher, AssetTargets
from app.imports.features.candidates import Candidate, cut_name, one_line
from app.imports.features.mapping import are_plots
from app.imports.features.project_matching import ProjectMatcher
from app.imports.features.project_targets import ProjectTargets
from app.imports.features.targets import Decision, Match, Matching, Targets, WrittenTarget
from app.policy.eudr import PLOT_TYPE
from app.values.ids import is_id

_DEFAULT_NAME: Final = "Plots"
_PROJECTS: Final = ProjectTargets()


class MixedMatcher(NamedTuple):
    """Matches areas with projects, and points with plots."""

    projects: ProjectMatcher
    plots: AssetMatcher

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        return (
            self.plots.decide(candidate) if candidate.is_plot else self.projects.decide(candidate)
        )

    def free_name(self, name: str) -> str:
        return self.projects.free_name(name)


@dataclass(frozen=True, slots=True)
class MixedTargets:
    """The projects of an account and the assets of one project, as ``Targets``.

    ``repeated_plots``: names of several points; ``matcher`` gets those of areas.
    """

    plots: AssetTargets
    repeated_plots: Collection[str] = ()

    def matcher(self, matching: Matching) -> MixedMatcher:
        of_plots = matching._replace(repeated_names=self.repeated_plots)
        return MixedMatcher(_PROJECTS.matcher(matching), self.plots.matcher(of_plots))

    def create(self, principal: Principal, candidate: Candidate, name: str) -> WrittenTarget:
        return self._for(candidate).create(principal, candidate, name)

    def change(
        self, principal: Principal, candidate: Candidate, target_id: str, match: Match, ahead: Any
    ) -> WrittenTarget | None:
        return self._for(candidate).change(principal, candidate, target_id, match, ahead)

    def undo(self, principal: Principal, row: Any, ahead: Any = None) -> None:
        self._for_row(row).undo(principal, row, ahead)

    def _for(self, candidate: Candidate) -> Targets:
        return self.plots if candidate.is_plot else _PROJECTS

    def _for_row(self, row: Any) -> Targets:
        return self.plots if is_id("asset", row.target_id) else _PROJECTS


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
        return AssetTargets(project_id, PLOT_TYPE if has_plots else DEFAULT_TYPE)
    if row.points_as_plots:
        plot_type = PLOT_TYPE if row.points is None else DEFAULT_TYPE
        return MixedTargets(AssetTargets(project_id, plot_type))
    return _PROJECTS


def project_name_of(filename: str) -> str:
    """The name of a new project for the plots of a file: its name without the ending."""
    return cut_name(one_line(PurePath(filename).stem)) or _DEFAULT_NAME
