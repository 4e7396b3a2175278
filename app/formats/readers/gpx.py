"""GPX 1.0 and 1.1 (https://www.topografix.com/GPX/1/1/), with the names of columns of GDAL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from app.formats.crs import chosen_projection, in_degrees, read_crs
from app.formats.features import FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.gpx_elements import ELEMENTS, LINK, NUMBERS, element_text
from app.formats.positions import Json
from app.formats.readers.layer_limits import Columns, PositionCount, unique_name
from app.formats.readers.ordinates import Position, read_number, read_position, too_many_positions
from app.formats.readers.xml_elements import Element, ElementFilter, read_elements
from app.geometry.problems import GeometryInvalid, Place
from app.policy.files import COLUMNS, VALUE_BYTES
from app.policy.request_limits import GEOMETRY_POSITIONS

WAYPOINTS: Final = "waypoints"
_LAYERS: Final = {"wpt": WAYPOINTS, "rte": "routes", "trk": "tracks"}
ALL_LAYERS: Final = "tracks, routes and waypoints"
_ALL: Final = ("trk", "rte", "wpt")
_COLUMNS: Final = (*(name for name in ELEMENTS if name != "link"), "number")
_ABOUT: Final = ("desc", "author", "email", "copyright", "link", "url", "keywords")
_ROOT: Final = frozenset({"gpx"})
_DIGITS: Final = 16  # of whole numbers, at most
_TEXTS: Final = dict.fromkeys((*_COLUMNS, "text", "url", "urlname"), VALUE_BYTES)
_FREE: Final = frozenset({"extensions"})
_RECORDS: Final = frozenset(_LAYERS)
_WITHOUT_POINTS: Final = ElementFilter(
    _ROOT, _RECORDS | {"metadata"}, _TEXTS, closed=frozenset({"rtept", "trkseg"}), free=_FREE
)
_WITH_POINTS: Final = ElementFilter(
    _ROOT, _RECORDS, _TEXTS, closed=frozenset({"rtept", "trkpt"}), free=_FREE
)
_OWN: Final = re.compile(r"(?:ogr_)?canopy_(.+)")  # what Canopy has exported, perhaps through GDAL

_POINTS_NOTE: Final = "Heights, times and other values of the points of tracks were left out."
_ABOUT_NOTE: Final = "What the GPX file says about itself as a whole was left out."
_SHORT_NOTE: Final = "Segments of tracks with a single point were left out."


class GpxReader(FormatReader):
    """Waypoints as Points, routes and tracks as LineStrings, tracks of several segments as
    MultiLineStrings. If there are waypoints and others, the last layer has all, tracks first."""

    def __init__(self, path: Path) -> None:
        """Raise FileInvalid when the file is broken or has none of these."""
        super().__init__()
        self._path = path
        columns = {kind: Columns() for kind in _LAYERS}
        for element in self._elements(_WITHOUT_POINTS):
            if element.name in _LAYERS:
                columns[element.name].add_feature(_element_values(element))
            else:
                self.note(_ABOUT_NOTE if any(element.named(*_ABOUT)) else None)
        self.layers = tuple(
            Layer(name, columns[kind].features, columns[kind].names())
            for kind, name in _LAYERS.items()
            if columns[kind].features
        )
        if columns["wpt"].features and len(self.layers) > 1:
            names = dict.fromkeys(name for kind in _ALL for name in columns[kind].names())
            features = sum(layer.features for layer in self.layers)
            self.layers += (Layer(ALL_LAYERS, features, tuple(names)),)
        if not self.layers:
            raise FileInvalid("The GPX file has no waypoints, routes or tracks.")

    def _elements(self, element_filter: ElementFilter) -> Iterator[Element]:
        with self._path.open("rb") as stream:
            yield from read_elements(stream, element_filter)

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``. GPX is in degrees on WGS 84."""
        projection = chosen_projection(self, read_crs("EPSG:4326"), crs)
        positions = PositionCount()
        of_layer = (
            element
            for kind in _ALL
            if layer.name in (_LAYERS[kind], ALL_LAYERS)
            for element in self._elements(_WITH_POINTS)
            if element.name == kind
        )
        for number, element in enumerate(of_layer, start=1):
            properties = _element_values(element)
            try:
                lines = _element_lines(element)
            except GeometryInvalid as invalid:
                yield SourceFeature(number, None, properties, tuple(invalid.problems))
                continue
            positions.add(sum(map(len, lines)))
            height = read_number(element.text_of("ele") or "")
            if element.name == "wpt" and height is not None and "ele" not in properties:
                lines[0][0].append(height)
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
    for name in NUMBERS & properties.keys():
        if (number := read_number(properties[name])) is not None:
            is_whole = properties[name].isdecimal() and len(properties[name]) < _DIGITS
            properties[name] = int(number) if is_whole else number
    links = [
        (link.get("href"), link.text_of("text"), link.text_of("type"))
        for link in element.named("link")
    ]
    links.append((element.text_of("url"), element.text_of("urlname"), None))  # of GPX 1.0
    for index, values in enumerate(links, start=1):
        of_link = zip(LINK, values, strict=True)
        properties |= {name.format(index): value for name, value in of_link if value}
    own: Json = {}
    for extensions in element.named("extensions"):
        for name, text in _extension_values(extensions):
            if match := _OWN.fullmatch(name):
                own[match[1]] = text
            elif len(properties) <= COLUMNS:  # more are refused
                properties[unique_name(name, properties)] = text
    return _merged(own, properties) if own else properties


def _extension_values(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the names and texts within extensions, also of attributes."""
    for child in element.children:
        name = child.name.replace(":", "_").strip("_")
        pairs = zip(child.attributes[::2], child.attributes[1::2], strict=True)
        for attribute, value in pairs:
            if value and not attribute.startswith("xmlns"):
                yield f"{name}_{attribute.rpartition(':')[2]}", value
        if child.text:
            yield name, child.text
        yield from _extension_values(child)


def _merged(own: Json, properties: Json) -> Json:
    """The values of an exported asset. Elements that were edited since win over the metadata, and
    a height that is not in it is that of the location."""
    metadata: Any = None
    with suppress(orjson.JSONDecodeError):
        metadata = orjson.loads(own.pop("metadata", "{}"))
    if not isinstance(metadata, dict):
        return own | properties
    for name in properties.keys() - {"name", "type"}:
        text, key = element_text(name, metadata)
        if key is not None and not _same(text, properties[name]):
            metadata[key] = properties[name]
        if key is not None or name == "ele":
            del properties[name]
    others = {"metadata": orjson.dumps(metadata).decode()} if metadata else {}
    return own | properties | others


def _same(text: str | None, value: Any) -> bool:
    return text == value or (isinstance(value, int | float) and read_number(text or "") == value)


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
