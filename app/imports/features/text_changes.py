"""The names and texts of a layer that cannot be stored as they are, summed for the notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature, default_start
from app.policy.bounds import NAME_LENGTH
from app.values.text import pluralize, without_controls

_SHOWN: Final = 20  # columns in a note


class TextChanges:
    """Counts the features of a layer whose names or texts are others than in the file."""

    def __init__(self) -> None:
        self._numbered = self._cut = self._kept = self._cleaned = 0
        self._columns: dict[str, None] = {}

    def add(self, item: Candidate | RejectedFeature) -> None:
        """Count a feature, unless it is rejected."""
        if isinstance(item, RejectedFeature):
            return
        self._numbered += item.is_numbered
        self._cut += item.is_cut
        self._kept += item.is_kept
        self._cleaned += bool(item.cleaned)
        self._columns |= dict.fromkeys(item.cleaned)

    def notes(self, choices: ReadOptions) -> Iterator[str]:
        """Yield a sentence for each kind of change."""
        column = choices.mapping.name
        if self._numbered and column:
            yield (
                f"{_have(self._numbered)} no name in the column “{column}”: it is "
                f"“{default_start(choices)}” and the number of the feature."
            )
        if self._cut:
            names = (
                f"{_have(self._cut)} a name of more than {NAME_LENGTH} characters, which was cut"
            )
            yield f"{names}. {self._where(column)}"
        if self._cleaned:
            yield (
                f"{_have(self._cleaned)} control characters, which cannot be shown, in "
                f"{self._listed()}: they were read as Windows-1252, or left out."
            )

    def _where(self, column: str | None) -> str:
        """Where the whole names are."""
        if not self._kept:
            return "The whole name is not in the metadata."
        some = "" if self._kept == self._cut else f" of {self._kept:,} of them"
        return f"The whole name{some} is in the metadata, as “{column}”."

    def _listed(self) -> str:
        columns = [f"“{without_controls(column)}”" for column in self._columns]
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        return ", ".join(columns[:_SHOWN]) + more


def _have(features: int) -> str:
    return f"{pluralize(features, 'feature')} {'has' if features == 1 else 'have'}"
