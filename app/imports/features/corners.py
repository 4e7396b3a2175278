"""Joining points to areas: GPS devices and surveyors' tables list the corners of parcels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from app.formats.features import FormatReader, Layer, SourceFeature
from app.imports.features.geometries import points_of

_JOINED: Final = "The points were joined to boundaries, in the order of the file."
_OTHERS: Final = "Lines and areas beside the points were left out."


class JoinedCorners(FormatReader):
    """A file whose points are the corners of areas.

    All points with the same value of a column become one feature, in the order of the file; with
    the column "", all points of the file. It has the columns whose values are the same in all its
    points.
    """

    def __init__(self, reader: FormatReader, column: str) -> None:
        super().__init__()
        self.format = reader.format  # type: ignore[misc]
        self.layers, self.notes = reader.layers, reader.notes
        self._reader, self._column = reader, column
        self.geometry_choices = reader.geometry_choices

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``."""
        areas: dict[Any, _Area] = {}
        layer = replace(layer, columns=(*layer.columns, self._column))
        for feature in self._reader.read_features(layer, crs):
            geometry = feature.geometry or {}
            points = points_of(geometry) or ([geometry] if geometry.get("type") == "Point" else [])
            if geometry and not points:
                self.note(_OTHERS)
            if points or feature.problems:
                key = str(feature.properties.get(self._column, "")).strip()
                areas.setdefault(key, _Area(feature)).add(feature, points)
        self.note(_JOINED)
        yield from (area.feature(number) for number, area in enumerate(areas.values(), start=1))

    def close(self) -> None:
        """As ``FormatReader.close``."""
        self._reader.close()


class _Area:
    def __init__(self, first: SourceFeature) -> None:
        self._properties = dict(first.properties)
        self._problems = list(first.problems)
        self._ring: list[Any] = []
        self._letter = ""

    def add(self, feature: SourceFeature, points: list[dict[str, Any]]) -> None:
        self._ring += [point.get("coordinates") for point in points]
        self._problems = self._problems or list(feature.problems)
        self._letter = self._letter or feature.letter
        for name in [*self._properties]:
            if feature.properties.get(name) != self._properties[name]:
                del self._properties[name]

    def feature(self, number: int) -> SourceFeature:
        is_closed = len(self._ring) > 1 and self._ring[0] == self._ring[-1]
        ring = self._ring if is_closed else [*self._ring, *self._ring[:1]]
        geometry = {"type": "Polygon", "coordinates": [ring]}
        problems = tuple(self._problems)
        return SourceFeature(number, geometry, self._properties, problems, letter=self._letter)
