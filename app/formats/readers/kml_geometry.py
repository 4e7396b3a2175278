"""The geometries of a KML placemark as one GeoJSON geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from app.formats.positions import Json
from app.formats.readers.ordinates import Position, read_position, too_many_positions
from app.formats.readers.xml_elements import Element
from app.geometry.problems import MAX_PROBLEMS, GeometryInvalid, Place, Problem
from app.policy.request_limits import GEOMETRY_POSITIONS

SIMPLE: Final = frozenset({"Point", "LineString", "LinearRing", "Polygon", "Track", "Model"})
# The last ones are not in KML, but some programs write them.
NESTED: Final = frozenset({
    "MultiGeometry", "MultiTrack", "MultiPolygon", "MultiLineString", "MultiPoint",
    "GeometryCollection",
})  # fmt: skip
_MOST_COMMAS: Final = 3 * GEOMETRY_POSITIONS  # with heights, and commas between positions
_MOST_WORDS: Final = 6 * GEOMETRY_POSITIONS  # each comma can be a word
_ZERO: Final = frozenset("+-0.")


@dataclass(slots=True)
class PlacemarkShape:
    """The geometries of a placemark as one. ``geometry`` is None if there is none, or there are
    problems. ``has_heights``: it has heights other than 0, which are left out. ``has_models``: it
    has a Model, of which only the location is read."""

    geometry: Json | None = None
    problems: list[Problem] = field(default_factory=list)
    positions: int = 0
    has_heights: bool = False
    has_models: bool = False

    def read(self, placemark: Element) -> None:
        """Read the geometries of a placemark.

        Several become one of many parts, or a GeometryCollection when their types differ. Empty
        ones are left out.
        """
        elements = list(_simple_geometries(placemark))
        geometries = []
        for part, element in enumerate(elements):
            try:
                geometries.append(self._geometry(element, Place(part if elements[1:] else None)))
            except GeometryInvalid as invalid:
                self.problems.extend(invalid.problems)
                if self.positions > GEOMETRY_POSITIONS or len(self.problems) >= MAX_PROBLEMS:
                    break
        if not self.problems:
            self.geometry = _collect_geometry([geometry for geometry in geometries if geometry])

    def _geometry(self, element: Element, place: Place) -> Json | None:
        """A geometry that contains no others, or None if it is empty."""
        if element.name == "Polygon":
            rings = self._rings(element, place)
            return {"type": "Polygon", "coordinates": rings} if rings else None
        positions = self._positions(element, place)
        if not positions:
            return None
        if element.name not in ("Point", "Model"):
            return {"type": "LineString", "coordinates": positions}
        if len(positions) > 1:
            message = f"is a {element.name} with {len(positions)} positions; it must have one."
            raise GeometryInvalid([place.problem("wrong_nesting", message)])
        return {"type": "Point", "coordinates": positions[0]}

    def _rings(self, polygon: Element, place: Place) -> list[list[Position]]:
        """The exterior ring and the holes. Some programs put all holes into one element."""
        outer, inner = polygon.named("outerBoundaryIs"), polygon.named("innerBoundaryIs")
        exteriors = [ring for boundary in (polygon, *outer) for ring in _linear_rings(boundary)]
        holes = [ring for boundary in inner for ring in _linear_rings(boundary)]
        if len(exteriors) > 1:
            message = f"has {len(exteriors)} exterior rings. Make each a Polygon of its own."
            raise GeometryInvalid([place.problem("wrong_nesting", message)])
        rings = [
            self._positions(ring, Place(place.part, index))
            for index, ring in enumerate([*exteriors, *holes])
        ]
        if not any(rings):
            return []
        if not exteriors or not rings[0]:
            raise GeometryInvalid([place.problem("empty", "has holes, and no exterior ring.")])
        return [ring for ring in rings if ring]

    def _positions(self, element: Element, place: Place) -> list[Position]:
        positions = []
        for index, numbers in enumerate(self._numbers(element)):
            if len(numbers) not in (2, 3):
                message = (
                    f"has {len(numbers)} numbers; it must be longitude,latitude or with a height."
                )
                raise GeometryInvalid([place.at(index).problem("wrong_position", message)])
            positions.append(read_position(numbers[0], numbers[1], place, index))
            if len(numbers) == 3 and not _ZERO.issuperset(numbers[2]):
                self.has_heights = True
        self.positions += len(positions)
        if self.positions > GEOMETRY_POSITIONS:
            raise too_many_positions()
        return positions

    def _numbers(self, element: Element) -> list[list[str]]:
        """The numbers of each position. Some positions of a GPS track may be empty."""
        if element.name == "Track":
            split = (coord.text.split() for coord in element.named("coord"))
            return [numbers[:3] for numbers in split if numbers]
        if element.name == "Model":
            self.has_models = True
            ways = ("longitude", "latitude")
            return [
                [location.text_of(way) or "" for way in ways]
                for location in element.named("Location")
            ]
        return _split_coordinates(" ".join(child.text for child in element.named("coordinates")))


def _linear_rings(boundary: Element) -> list[Element]:
    """The rings in a boundary. Some programs leave out one of the elements around coordinates."""
    rings = [*boundary.named("LinearRing")]
    return rings or [boundary] * any(boundary.named("coordinates"))


def _simple_geometries(element: Element) -> Iterator[Element]:
    """Yield the geometries at any depth in an element that contain no others."""
    for child in element.children:
        if child.name in SIMPLE:
            yield child
        elif child.name in NESTED:
            yield from _simple_geometries(child)


def _collect_geometry(simple: list[Json]) -> Json | None:
    types = {geometry["type"] for geometry in simple}
    if len(simple) < 2:
        return simple[0] if simple else None
    if len(types) > 1:
        return {"type": "GeometryCollection", "geometries": simple}
    coordinates = [geometry["coordinates"] for geometry in simple]
    return {"type": f"Multi{types.pop()}", "coordinates": coordinates}


def _split_coordinates(text: str) -> list[list[str]]:
    """The numbers of each position in the text of ``coordinates``.

    KML has "longitude,latitude[,height]", with white space between positions. As in Google Earth,
    if it is unambiguous, positions may end in a comma, there may be white space around commas, and
    only commas between positions if every third number is a height of 0.

    Raises:
        GeometryInvalid: there are too many.
    """
    words = text.split(None, _MOST_WORDS)
    if text.count(",") > _MOST_COMMAS or len(words) > _MOST_WORDS:
        raise too_many_positions()
    as_written = [word.strip(",").split(",") for word in words]
    if _are_positions(as_written):
        return as_written
    closed_up = " ".join(words).replace(" ,", ",").replace(", ", ",")
    without_space = [word.split(",") for word in closed_up.split()]
    if _are_positions(without_space):
        return without_space
    numbers = closed_up.strip(",").split(",")
    triples = [numbers[start : start + 3] for start in range(0, len(numbers), 3)]
    if " " not in closed_up and _are_flat(triples):
        return triples
    return as_written


def _are_positions(split: list[list[str]]) -> bool:
    return set(map(len, split)) <= {2, 3}


def _are_flat(triples: list[list[str]]) -> bool:
    return len(triples[-1]) == 3 and all(_ZERO.issuperset(triple[2]) for triple in triples)
