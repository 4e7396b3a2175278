"""What becomes of a feature, decided before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

Verdict = Literal["new", "changed", "same"]
Match = Literal["external_id", "name", "none"]

METADATA: Final = "metadata_json"


class Unusable(Exception):
    """A feature cannot be imported into this account; ``field`` is what is in the way."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class Decision:
    """``name`` is that of the target: the project or asset that the feature becomes, changes, or is
    already. ``changes`` names the fields in which it differs. ``is_namesake``: it is new, and
    another one has had its name before the import."""

    verdict: Verdict
    name: str
    target_id: str | None = None
    area_m2: int | None = None
    previous_area_m2: int | None = None
    changes: tuple[str, ...] = ()
    is_namesake: bool = False


def field_names(columns: dict[str, Any]) -> tuple[str, ...]:
    """The fields that these columns hold."""
    return tuple("metadata" if name == METADATA else name for name in columns)
