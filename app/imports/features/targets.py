"""The interface of targets: the steps of an import handle projects and assets by it."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

from app.auth.principal import Principal
from app.imports.features.candidates import Candidate
from app.imports.features.metadata import changed_keys, changed_metadata

Verdict = Literal["new", "changed", "same"]
Match = Literal["external_id", "name", "none"]

METADATA: Final = "metadata_json"


class CannotImport(Exception):
    """A feature cannot be imported into this account. ``field`` is the one that conflicts."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class Decision:
    """What an import will do with a feature. ``name`` is that of the target: the project or asset
    that the feature becomes, changes, or already is. ``changes`` names the fields that differ, and
    ``metadata_changes`` the keys of the metadata.
    ``is_namesake``: it is new, and another one had its name before the import. ``outside``: an
    asset lies outside its project's boundary; None: one of the two has no place."""

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
    """The names of the fields in these columns."""
    return tuple("metadata" if name == METADATA else name for name in columns)


def changed_columns(target: Any, item: Candidate) -> dict[str, Any]:
    """The values of a feature that its target does not have yet, by column."""
    changes: dict[str, Any] = {}
    for column, value in item.values.items():
        if column == METADATA:
            if metadata := changed_metadata(target.metadata_json, value):
                changes[METADATA] = metadata
        elif value != getattr(target, column):
            changes[column] = value
    return changes


def metadata_keys(target: Any, columns: dict[str, Any]) -> tuple[str, ...]:
    """The keys of metadata that differ between a target and ``changed_columns`` of it."""
    return changed_keys(target.metadata_json, columns.get(METADATA))


class WrittenTarget(NamedTuple):
    """A target after it was written: its new ``updated_at`` as ``written_at``, and the columns that
    were replaced as ``before``, None for a new one."""

    target_id: str
    name: str
    written_at: datetime
    before: dict[str, Any] | None


class CannotUndo(Exception):
    """A target is kept by an undo; the message says why."""


class Matcher(Protocol):
    """Decides about the features of a layer, in their order."""

    def decide(self, item: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""

    def free_name(self, name: str) -> str:
        """A name that a new target can have: this one, perhaps followed by a number."""


class Targets(Protocol):
    """Projects, or the assets of one project."""

    def matcher(
        self,
        account_id: str,
        match: Match,
        repeated_names: Collection[str] = (),
        taken: Container[str] = (),
    ) -> Matcher:
        """The matcher for the features of one layer.

        Args:
            repeated_names: names that several features have, as ``fold`` makes them.
            taken: ids of the targets that other features of the import are.
        """

    def create(self, principal: Principal, item: Candidate, name: str) -> WrittenTarget:
        """Create the target of a feature. Raises ApiError."""

    def prepare(self, account_id: str, item: Candidate, decision: Decision) -> Any:
        """Do the work that would delay others in the transaction of ``change``, which gets the
        result."""

    def change(
        self,
        principal: Principal,
        item: Candidate,
        decision: Decision,
        match: Match,
        prepared: Any = None,
    ) -> WrittenTarget | None:
        """Change the target of a feature. Returns None if there is nothing left to change. Raises
        ApiError."""

    def prepare_undo(self, account_id: str, row: Any) -> Any:
        """Do the work that would delay others in the transaction of ``undo``, which gets the
        result."""

    def undo(self, principal: Principal, row: Any, prepared: Any = None) -> None:
        """Undo what a stored feature did. Raises CannotUndo."""
