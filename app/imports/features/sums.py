"""What is summed over the features of a file while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.geometry import Bounds, around, wrapped
from app.geometry.countries import country_at, country_name, country_of
from app.imports.features.candidates import Candidate, Rejected
from app.imports.features.faults import Faults
from app.imports.overlaps import Placed


@dataclass
class FeatureSums:
    """Sums over features. ``placed`` are those whose boundaries the import writes."""

    placed: list[Placed] = field(default_factory=list)
    _box: Bounds | None = None
    _countries: Counter[str] = field(default_factory=Counter)
    _faults: Faults = field(default_factory=Faults)
    _repeated: int = 0
    _outside: int = 0
    _without_place: int = 0

    def add(self, features: Iterable[tuple[Mapping[str, Any], Candidate | Rejected]]) -> None:
        """Add features with their rows."""
        for row, item in features:
            self._add(row, item)

    def _add(self, row: Mapping[str, Any], item: Candidate | Rejected) -> None:
        self._faults.add(row)
        if isinstance(item, Rejected) or row["verdict"] == "rejected":
            return
        self._repeated += row["verdict"] == "same" and row["target_id"] is None
        self._outside += bool(row["outside"])
        if item.bounds is None:
            self._without_place += 1
            return
        self._box = around(self._box, item.bounds)
        if country := _country(item):
            self._countries[country] += 1
        is_written = row["verdict"] == "new" or "geometry" in row["changes"]
        if item.boundary is not None and row["verdict"] in ("new", "changed") and is_written:
            boundary = item.boundary
            size, area_m2, target_id = len(boundary.text), boundary.area_m2, row["target_id"]
            placed = Placed(item.number, row["name"], area_m2, size, boundary.bounds, target_id)
            self.placed.append(placed)

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


def _country(item: Candidate) -> str | None:
    """The country that a feature with a place lies in."""
    if item.boundary is not None:
        return country_of(item.boundary.rings, item.boundary.bounds)
    assert item.location is not None
    return country_at(item.location.longitude, item.location.latitude)
