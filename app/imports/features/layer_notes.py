"""Notes on the names and texts of features that were changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature, default_prefix
from app.policy.request_limits import NAME_LENGTH
from app.values.text import pluralize, without_controls

_LISTED_COLUMNS: Final = 20


class TextChanges:
    """Counts the features whose names or texts cannot be stored as they are in the file."""

    def __init__(self) -> None:
        self._numbered = self._cut = self._kept_whole = self._cleaned = 0
        self._columns: dict[str, None] = {}

    def add(self, feature: Candidate | RejectedFeature) -> None:
        """Count a feature, unless it is rejected."""
        if isinstance(feature, RejectedFeature):
            return
        self._numbered += feature.is_numbered
        self._cut += feature.is_cut
        self._kept_whole += feature.is_kept_whole
        self._cleaned += bool(feature.cleaned)
        self._columns |= dict.fromkeys(feature.cleaned)

    def notes(self, options: ReadOptions) -> Iterator[str]:
        """Yield a sentence for each kind of change."""
        column = options.mapping.name
        if self._numbered and column:
            yield (
                f"{_features_have(self._numbered)} no name in the column “{column}”: it is "
                f"“{default_prefix(options)}” and the number of the feature."
            )
        if self._cut:
            yield (
                f"{_features_have(self._cut)} a name of more than {NAME_LENGTH} characters, which "
                f"was cut. {self._where_whole(column)}"
            )
        if self._cleaned:
            yield (
                f"{_features_have(self._cleaned)} control characters, which cannot be shown, in "
                f"{self._listed_columns()}: they were read as Windows-1252, or left out."
            )

    def _where_whole(self, column: str | None) -> str:
        if not self._kept_whole:
            return "The whole name is not in the metadata."
        some = "" if self._kept_whole == self._cut else f" of {self._kept_whole:,} of them"
        return f"The whole name{some} is in the metadata, as “{column}”."

    def _listed_columns(self) -> str:
        columns = [f"“{without_controls(column)}”" for column in self._columns]
        rest = len(columns) - _LISTED_COLUMNS
        return ", ".join(columns[:_LISTED_COLUMNS]) + (f" and {rest} more" if rest > 0 else "")


def _features_have(number: int) -> str:
    return pluralize(number, "feature has", "features have")
