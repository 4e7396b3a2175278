"""What is summed over the features of a file while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.geometry import Boundary, Bounds, around, wrapped
from app.geometry.countries import country_at, country_name
from app.geometry.countries.location import Found
from app.geometry.warnings import WARNING_CODES, warned
from app.imports.features.candidates import Candidate, RejectedFeature
from app.imports.features.faults import Faults
from app.imports.overlaps import PlacedFeature


@dataclass
class FeatureSums:
    """Sums over features. ``placed`` are those whose boundaries the import writes."""

    placed: list[PlacedFeature] = field(default_factory=list)
    _box: Bounds | None = None
    _countries: Counter[str] = field(default_factory=Counter)
    _faults: Faults = field(default_factory=Faults)
    _warnings: dict[str, list[int]] = field(default_factory=dict)  # code: how many, the first
    _repeated: int = 0
    _outside: int = 0
    _without_place: int = 0

    def add(
        self, features: Iterable[tuple[Mapping[str, Any], Candidate | RejectedFeature]]
    ) -> None:
        """Add features with their rows."""
        written: list[tuple[int, Boundary]] = []
        for row, item in features:
            self._faults.add(row)
            if isinstance(item, RejectedFeature) or row["verdict"] == "rejected":
                continue
            self._repeated += row["verdict"] == "same" and row["target_id"] is None
            self._outside += bool(row["outside"])
            self._add_place(item)
            if item.boundary is not None and _is_written(row):
                self.placed.append(_placed(row, item.boundary))
                written.append((item.number, item.boundary))
        self._add_warnings(written)

    def _add_place(self, item: Candidate) -> None:
        """Add where a feature lies."""
        if item.bounds is None:
            self._without_place += 1
            return
        self._box = around(self._box, item.bounds)
        if country := _country(item):
            self._countries[country] += 1

    def _add_warnings(self, written: Sequence[tuple[int, Boundary]]) -> None:
        found = warned([boundary for _, boundary in written])
        for code, indices in found.items():
            if indices:
                sums = self._warnings.setdefault(code, [0, written[min(indices)][0]])
                sums[0] += len(indices)

    def as_json(self) -> dict[str, Any]:
        """The sums as ``Import.counts`` has them."""
        return {
            "bbox": self._box and list(wrapped(self._box)),
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
        """What a person should know of the features."""
        notes = []
        if self._repeated:
            which = "1 feature is" if self._repeated == 1 else f"{self._repeated:,} features are"
            notes.append(f"{which} repeated, with all the values of another one, and left out.")
        if self._outside:
            which = "1 feature lies" if self._outside == 1 else f"{self._outside:,} features lie"
            notes.append(f"{which} outside the boundary of the project.")
        return notes


def _is_written(row: Mapping[str, Any]) -> bool:
    """True if an import writes the boundary of a feature."""
    return row["verdict"] == "new" or (row["verdict"] == "changed" and "geometry" in row["changes"])


def _placed(row: Mapping[str, Any], boundary: Boundary) -> PlacedFeature:
    size, area_m2 = len(boundary.text), boundary.area_m2
    return PlacedFeature(
        row["number"], row["name"], area_m2, size, boundary.bounds, row["target_id"]
    )


def _country(item: Candidate) -> Found:
    """The country that a feature with a place lies in."""
    if item.boundary is not None:
        return item.boundary.country
    assert item.location is not None
    return country_at(item.location.longitude, item.location.latitude)
