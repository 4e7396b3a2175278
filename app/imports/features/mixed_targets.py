"""Targets of a file whose areas become projects, and whose points become plots: assets of one
project."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from app.auth.principal import Principal
from app.imports.features.asset_targets import DEFAULT_TYPE, AssetMatcher, AssetTargets
from app.imports.features.candidates import Candidate, cut_name, one_line
from app.imports.features.mapping import are_plots
from app.imports.features.project_matching import ProjectMatcher
from app.imports.features.project_targets import ProjectTargets
from app.imports.features.targets import Decision, Match, Targets, WrittenTarget
from app.policy.eudr import PLOT_TYPE
from app.values.ids import is_id

_NAMELESS: Final = "Plots"
_PROJECTS: Final = ProjectTargets()


class MixedMatcher(NamedTuple):
    """Decides about areas and points, each among its own."""

    projects: ProjectMatcher
    plots: AssetMatcher

    def decide(self, item: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        return self.plots.decide(item) if item.is_plot else self.projects.decide(item)

    def free_name(self, name: str) -> str:
        return self.projects.free_name(name)


@dataclass(frozen=True, slots=True)
class MixedTargets:
    """The projects of an account and the assets of one, as ``Targets``. ``repeated_plots`` are the
    names that several points have; those given to ``matcher`` are of areas."""

    plots: AssetTargets
    repeated_plots: Collection[str] = ()

    def matcher(
        self,
        account_id: str,
        match: Match,
        repeated_names: Collection[str] = (),
        taken: Container[str] = (),
    ) -> MixedMatcher:
        return MixedMatcher(
            _PROJECTS.matcher(account_id, match, repeated_names, taken),
            self.plots.matcher(account_id, match, self.repeated_plots, taken),
        )

    def create(self, principal: Principal, item: Candidate, name: str) -> WrittenTarget:
        return self._of(item).create(principal, item, name)

    def prepare(self, account_id: str, item: Candidate, decision: Decision) -> Any:
        return self._of(item).prepare(account_id, item, decision)

    def change(
        self,
        principal: Principal,
        item: Candidate,
        decision: Decision,
        match: Match,
        prepared: Any = None,
    ) -> WrittenTarget | None:
        return self._of(item).change(principal, item, decision, match, prepared)

    def prepare_undo(self, account_id: str, row: Any) -> Any:
        return self._of_row(row).prepare_undo(account_id, row)

    def undo(self, principal: Principal, row: Any, prepared: Any = None) -> None:
        self._of_row(row).undo(principal, row, prepared)

    def _of(self, item: Candidate) -> Targets:
        return self.plots if item.is_plot else _PROJECTS

    def _of_row(self, row: Any) -> Targets:
        return self.plots if is_id("asset", row.target_id) else _PROJECTS


def import_targets(found: Any) -> Targets:
    """The targets of the features of an import: of its row, or of what it has of ``kind``,
    ``project_id``, ``points_as_plots``, ``layers`` and ``layer``."""
    project_id = found.project_id or ""
    if found.kind == "assets":
        columns = [each["columns"] for each in found.layers if each["name"] == found.layer]
        has_plots = bool(columns) and are_plots(columns[0])
        return AssetTargets(project_id, PLOT_TYPE if has_plots else DEFAULT_TYPE)
    if found.points_as_plots:
        return MixedTargets(AssetTargets(project_id, PLOT_TYPE))
    return _PROJECTS


def name_of_file(filename: str) -> str:
    """The name of a project after a file: without its ending."""
    return cut_name(one_line(PurePath(filename).stem)) or _NAMELESS
