"""GPX 1.0 and 1.1 (https://www.topografix.com/GPX/1/1/). Extensions are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from app.formats.crs import chosen_projection, in_degrees, read_crs
from app.formats.features import FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.positions import Json
from app.formats.readers.layer_limits import Columns, PositionCount
from app.formats.readers.ordinates import Position, read_number, read_position, too_many_positions
from app.formats.readers.xml_elements import Element, ElementFilter, read_elements
from app.geometry.problems import GeometryInvalid, Place
from app.policy.files import VALUE_BYTES
from app.policy.request_limits import GEOMETRY_POSITIONS

_LAYERS: Final = {"wpt": "waypoints", "rte": "routes", "trk": "tracks"}
_COLUMNS: Final = ("name", "desc", "cmt", "sym", "type", "number", "ele", "time")
_DATA: Final = {
    "": frozenset({"gpx"}),
    "gpx": frozenset(_LAYERS),
    **dict.fromkeys(_LAYERS, frozenset(_COLUMNS)),
}
_POINTS: Final = {
    "rte": _DATA["rte"] | {"rtept"},
    "trk": _DATA["trk"] | {"trkseg"},
    "trkseg": frozenset({"trkpt"}),
}
_ROOT: Final = frozenset({"gpx"})
_TEXTS: Final = dict.fromkeys(_COLUMNS, VALUE_BYTES)
_WITHOUT_POINTS: Final = ElementFilter(_DATA, _ROOT, frozenset(_LAYERS), _TEXTS)
_WITH_POINTS: Final = ElementFilter(_DATA | _POINTS, _ROOT, frozenset(_LAYERS), _TEXTS)

_POINTS_NOTE: Final = "Heights and times of track points were ignored."
_SHORT_NOTE: Final = "Segments of tracks with a single point were left out."


class GpxReader(FormatReader):
    """Waypoints as Points, routes and tracks as LineStrings, tracks of several segments as
    MultiLineStrings."""

    format: ClassVar[str] = "gpx"

    def __init__(self, path: Path) -> None:
        """Raise FileInvalid when the file is broken or has none of these."""
        super().__init__()
        self._path = path
        columns = {kind: Columns() for kind in _LAYERS}
        features = dict.fromkeys(_LAYERS, 0)
        for element in self._elements(_WITHOUT_POINTS):
            features[element.name] += 1
            for column in _element_values(element):
                columns[element.name].add(column)
        self.layers = tuple(
            Layer(name, features[kind], columns[kind].names())
            for kind, name in _LAYERS.items()
            if features[kind]
        )
        if not self.layers:
            raise FileInvalid("The GPX file has no waypoints, routes or tracks.")

    def _elements(self, element_filter: ElementFilter) -> Iterator[Element]:
        with self._path.open("rb") as stream:
            yield from read_elements(stream, element_filter)

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``. GPX is in degrees on WGS 84."""
        projection = chosen_projection(self, read_crs("EPSG:4326"), crs)
        positions = PositionCount()
        elements = self._elements(_WITH_POINTS)
        of_layer = (element for element in elements if _LAYERS[element.name] == layer.name)
        for number, element in enumerate(of_layer, start=1):
            properties = _element_values(element)
            try:
                lines = _element_lines(element)
            except GeometryInvalid as invalid:
                yield SourceFeature(number, None, properties, tuple(invalid.problems))
                continue
            positions.add(sum(map(len, lines)))
            feature = SourceFeature(number, self._geometry(element, lines), properties)
            yield in_degrees(feature, projection)

    def _geometry(self, element: Element, lines: list[list[Position]]) -> Json | None:
        if element.name == "wpt":
            return {"type": "Point", "coordinates": lines[0][0]}
        self.note(_POINTS_NOTE)
        long_lines = [line for line in lines if len(line) > 1]
        if long_lines and len(long_lines) < len(lines):
            self.note(_SHORT_NOTE)
        lines = long_lines or lines
        if len(lines) > 1:
            return {"type": "MultiLineString", "coordinates": lines}
        return {"type": "LineString", "coordinates": lines[0]} if lines else None


def _element_values(element: Element) -> Json:
    """The values of a waypoint, a route or a track, by column name."""
    properties: Json = {name: text for name in _COLUMNS if (text := element.text_of(name))}
    if (height := read_number(properties.get("ele", ""))) is not None:
        properties["ele"] = height
    if re.fullmatch("[0-9]{1,15}", properties.get("number", "")):
        properties["number"] = int(properties["number"])
    return properties


def _element_lines(element: Element) -> list[list[Position]]:
    """The positions of a waypoint, a route, or each segment of a track that has any.

    Raises:
        GeometryInvalid: a point cannot be read, or there are too many.
    """
    if element.name == "wpt":
        return [[_point_position(element, Place())]]
    segments = [list(segment.named("trkpt")) for segment in element.named("trkseg")]
    segments = [points for points in (list(element.named("rtept")), *segments) if points]
    if sum(map(len, segments)) > GEOMETRY_POSITIONS:
        raise too_many_positions()
    return [
        [
            _point_position(point, Place(part if segments[1:] else None, None, index))
            for index, point in enumerate(points)
        ]
        for part, points in enumerate(segments)
    ]


def _point_position(point: Element, place: Place) -> Position:
    return read_position(point.get("lon"), point.get("lat"), place)
