"""What becomes of features: decisions about them, and what is written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

Verdict = Literal["new", "changed", "same", "rejected"]
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


class CannotUndo(Exception):
    """An undo keeps a target; the message says why."""
