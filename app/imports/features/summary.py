"""The summary of a file's features that the preview of an import shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.formats.encodings import read_once
from app.geometry import Boundary, Bounds, box_around, wrapped_box
from app.geometry.countries import country_name
from app.geometry.plain_words import plain_message
from app.geometry.warnings import WARNING_CODES, indices_by_warning
from app.imports.features.candidates import Candidate, RejectedFeature
from app.imports.overlaps import PlacedFeature
from app.policy.imports import FAULTS
from app.values.text import pluralize

_REPEATED: Final = "repeated, with all the values of another one, and left out."
_READ_TWICE: Final = "would replace texts by ones that look like UTF-8 read otherwise."
_NUMBERS: Final = re.compile(r"[+-]?[0-9][0-9.,]*")


def without_numbers(message: str) -> str:
    """Replace all numbers in a message by 0."""
    return _NUMBERS.sub("0", message)


class FaultCounts:
    """Counts the problems of rejected features by kind, in plain words.

    Problems of the same code are one kind if their messages differ only in numbers.
    """

    def __init__(self) -> None:
        self._faults: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the row of a feature, which counts once for each kind."""
        keys = set()
        for problem in row["problems"]:
            code = problem["code"]
            message = plain_message(code, problem["message"])
            key = code, without_numbers(message)
            if key in keys or (key not in self._faults and len(self._faults) >= FAULTS):
                continue
            keys.add(key)
            fault = {"code": code, "message": message, "features": 0, "first": row["number"]}
            self._faults.setdefault(key, fault)["features"] += 1

    def as_json(self) -> list[dict[str, Any]]:
        """The faults as the API shows them, the most frequent first."""
        return sorted(self._faults.values(), key=lambda fault: -fault["features"])


@dataclass
class FeatureSummary:
    """Counts features. ``placed`` are those whose boundaries the import writes."""

    placed: list[PlacedFeature] = field(default_factory=list)
    _box: Bounds | None = None
    _countries: Counter[str] = field(default_factory=Counter)
    _faults: FaultCounts = field(default_factory=FaultCounts)
    _warnings: dict[str, list[int]] = field(default_factory=dict)  # code: [features, first]
    _repeated: int = 0
    _outside: int = 0
    _twice: int = 0
    _without_place: int = 0

    def add(
        self, features: Iterable[tuple[Mapping[str, Any], Candidate | RejectedFeature]]
    ) -> None:
        """Add features with their rows."""
        written: list[tuple[int, Boundary]] = []
        for row, feature in features:
            self._faults.add(row)
            if isinstance(feature, RejectedFeature) or row["verdict"] == "rejected":
                continue
            self._repeated += row["verdict"] == "same" and row["target_id"] is None
            self._outside += bool(row["outside"])
            if row["verdict"] == "changed":
                texts = (feature.name, *map(str, feature.columns.values()))
                self._twice += any(read_once(text) != text for text in texts)
            self._add_place(feature)
            if feature.boundary is not None and _writes_boundary(row):
                self.placed.append(_placed_feature(row, feature.boundary))
                written.append((feature.number, feature.boundary))
        self._add_warnings(written)

    def _add_place(self, candidate: Candidate) -> None:
        if candidate.bounds is None:
            self._without_place += 1
            return
        self._box = box_around(self._box, candidate.bounds)
        if country := candidate.country:
            self._countries[country] += 1

    def _add_warnings(self, written: Sequence[tuple[int, Boundary]]) -> None:
        for code, indices in indices_by_warning([boundary for _, boundary in written]).items():
            if indices:
                counts = self._warnings.setdefault(code, [0, written[min(indices)][0]])
                counts[0] += len(indices)

    def as_json(self) -> dict[str, Any]:
        """The summary as ``Import.counts`` has it."""
        return {
            "bbox": self._box and list(wrapped_box(self._box)),
            "countries": [
                {"code": code, "name": country_name(code), "features": features}
                for code, features in self._countries.most_common()
            ],
            "without_boundary": self._without_place,
            "faults": self._faults.as_json(),
            "warnings": [
                {"code": code, "message": WARNING_CODES[code], "features": features, "first": first}
                for code, (features, first) in self._warnings.items()
            ],
        }

    def notes(self) -> list[str]:
        """Sentences about repeated features, texts, and assets outside their project."""
        repeated = pluralize(self._repeated, "feature is", "features are")
        outside = pluralize(self._outside, "feature lies", "features lie")
        notes = (
            (self._repeated, f"{repeated} {_REPEATED}"),
            (self._twice, f"{pluralize(self._twice, 'feature')} {_READ_TWICE}"),
            (self._outside, f"{outside} outside the boundary of the project."),
        )
        return [note for features, note in notes if features]


def _writes_boundary(row: Mapping[str, Any]) -> bool:
    return row["verdict"] == "new" or (row["verdict"] == "changed" and "geometry" in row["changes"])


def _placed_feature(row: Mapping[str, Any], boundary: Boundary) -> PlacedFeature:
    return PlacedFeature(
        row["number"],
        row["name"],
        boundary.area_m2,
        len(boundary.text),
        boundary.bounds,
        row["target_id"],
    )
