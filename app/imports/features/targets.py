"""The interface of projects and assets for the steps of an import."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

from app.auth.principal import Principal
from app.imports.features.candidates import Candidate
from app.imports.features.metadata import changed_keys, changed_metadata
from app.values.text import fold_text

Verdict = Literal["new", "changed", "same"]
Match = Literal["external_id", "name", "none"]

Identity = tuple[str, bytes]  # the name of a feature, and a digest of its values
METADATA: Final = "metadata_json"


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


def field_names(columns: dict[str, Any]) -> tuple[str, ...]:
    """The names of the fields that are stored in these columns."""
    return tuple("metadata" if name == METADATA else name for name in columns)


def changed_columns(target: Any, candidate: Candidate) -> dict[str, Any]:
    """The values of a feature that differ from its target's, by column."""
    changes: dict[str, Any] = {}
    for column, value in candidate.values.items():
        if column == METADATA:
            if metadata := changed_metadata(target.metadata_json, value):
                changes[METADATA] = metadata
        elif value != getattr(target, column):
            changes[column] = value
    return changes


def feature_identity(candidate: Candidate) -> Identity:
    """What features that are the same have in common."""
    geometry = candidate.boundary or candidate.location
    content = repr((geometry and geometry.text, sorted(candidate.values.items())))
    name = "" if candidate.is_numbered else fold_text(candidate.name)
    return name, hashlib.sha256(content.encode()).digest()


def metadata_keys(target: Any, columns: dict[str, Any]) -> tuple[str, ...]:
    """The keys of metadata that ``changed_columns`` has changed."""
    return changed_keys(target.metadata_json, columns.get(METADATA))


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

    def prepare(self, account_id: str, candidate: Candidate, target_id: str) -> Any:
        """Do slow work for ``change`` outside its transaction. Returns its argument
        ``ahead``."""

    def change(
        self, principal: Principal, candidate: Candidate, target_id: str, match: Match, ahead: Any
    ) -> WrittenTarget | None:
        """Change the target of a feature. Returns None if nothing is left to change. Raises
        ApiError."""

    def prepare_undo(self, account_id: str, row: Any) -> Any:
        """Do slow work for ``undo`` outside its transaction. Returns its argument ``ahead``."""

    def undo(self, principal: Principal, row: Any, ahead: Any = None) -> None:
        """Undo what was written of a feature. Raises CannotUndo."""
