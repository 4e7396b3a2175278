"""The interface of projects and assets for the steps of an import."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from app.auth.principal import Principal
from app.imports.features.candidates import Candidate

Verdict = Literal["new", "changed", "same"]
Match = Literal["external_id", "name", "none"]


class CannotImport(Exception):
    """A feature conflicts with the account, by one of its fields."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about a feature.

    ``name`` and ``target_id`` are those of the project or asset that the feature becomes, changes,
    or already is. ``changes`` names the fields that differ, ``metadata_changes`` the keys of the
    metadata. ``is_namesake``: the feature is new, and another target has its name. ``outside``: an
    asset lies outside the boundary of its project; None: one of them has no place.
    """

    verdict: Verdict
    name: str
    target_id: str | None = None
    area_m2: int | None = None
    previous_area_m2: int | None = None
    changes: tuple[str, ...] = ()
    is_namesake: bool = False
    outside: bool | None = None
    metadata_changes: tuple[str, ...] = ()


class WrittenTarget(NamedTuple):
    """A target that was written. ``written_at`` is its ``updated_at``, ``before`` has the replaced
    columns; None for a new target."""

    target_id: str
    name: str
    written_at: datetime
    before: dict[str, Any] | None


class Matching(NamedTuple):
    """How the features of one layer match an account's projects or assets.

    ``repeated_names`` are names of several features, folded, and ``taken_ids`` the ids of the
    targets of other features of the import.
    """

    account_id: str
    match: Match
    repeated_names: Collection[str] = ()
    taken_ids: Container[str] = ()


class CannotUndo(Exception):
    """An undo keeps a target; the message says why."""


class Matcher(Protocol):
    """Decides about the features of a layer, in their order."""

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""

    def free_name(self, name: str) -> str:
        """Return a name for a new target: this one, followed by a number if it is in use."""


class Targets(Protocol):
    """Projects, or the assets of one project."""

    def matcher(self, matching: Matching) -> Matcher:
        """The matcher for the features of one layer."""

    def create(self, principal: Principal, candidate: Candidate, name: str) -> WrittenTarget:
        """Create the target of a feature. Raises ApiError."""

    def change(
        self, principal: Principal, candidate: Candidate, target_id: str, match: Match, ahead: Any
    ) -> WrittenTarget | None:
        """Change the target of a feature. Returns None if nothing is left to change. Raises
        ApiError. ``ahead``: the boundary of a project, compared with its present one."""

    def undo(self, principal: Principal, row: Any, ahead: Any = None) -> None:
        """Undo what was written of a feature. ``ahead``: its ``former_boundary``. Raises
        CannotUndo."""
