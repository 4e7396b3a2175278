"""GeoJSON coordinates as flat numpy arrays.

Structural errors are detected here, for a whole boundary at once and without Python code for each
position; ``structure`` finds where they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from app.geometry.problems import Place
from app.geometry.structure import MAX_HEIGHT, MIN_POSITIONS

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.intp]
Booleans: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rings:
    """All rings of a boundary, one after the other.

    ``lon``, ``lat``: degrees, one for each position. ``starts``: the index of each ring's first
    position, then the count of positions. ``part_starts``: the index of each part's first ring, the
    exterior one (RFC 7946 section 3.1.6), then the count of rings. ``multi``: True for a
    MultiPolygon. ``json``: the coordinates as they were sent.
    """

    lon: Floats
    lat: Floats
    starts: list[int]
    part_starts: list[int]
    multi: bool
    json: bytes

    @property
    def exteriors(self) -> list[int]:
        """The index of each part's exterior ring."""
        return self.part_starts[:-1]

    @property
    def of_position(self) -> Integers:
        """The ring of each position."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def span(self, ring: int) -> slice:
        """Return the slice of a ring's positions in ``lon`` and ``lat``."""
        return slice(self.starts[ring], self.starts[ring + 1])

    def part_of(self, ring: int) -> int:
        """Return the part that a ring belongs to."""
        return bisect_right(self.part_starts, ring) - 1

    def place(self, ring: int) -> Place:
        """Return the indices of a ring in the coordinates that were sent."""
        part = self.part_of(ring)
        return Place(part if self.multi else None, ring - self.part_starts[part])


def read_rings(coordinates: object, *, multi: bool, max_positions: int) -> Rings | None:
    """Read the coordinates of a Polygon or MultiPolygon; None when their structure has errors."""
    parts: Any = coordinates if multi else [coordinates]
    if not _are_lists(parts):
        return None
    rings = list(chain.from_iterable(parts))
    if not all(parts) or not _are_lists(rings):
        return None
    counts = list(map(len, rings))
    if min(counts) < MIN_POSITIONS or sum(counts) > max_positions:
        return None
    json = _json_of_numbers(coordinates)
    positions = list(chain.from_iterable(rings))
    if json is None or not _are_lists(positions):
        return None
    ordinates = _ring_ordinates(positions)
    if ordinates is None or any(ring[0] != ring[-1] for ring in rings):
        return None
    starts = list(accumulate(counts, initial=0))
    return Rings(*ordinates, starts, list(accumulate(map(len, parts), initial=0)), multi, json)


def stored_rings(text: str) -> Rings:
    """Read the text of a ``Boundary``, which has no errors."""
    return parsed_rings(orjson.loads(text))


def parsed_rings(value: Any) -> Rings:
    """Read the parsed text of a ``Boundary``."""
    multi = value["type"] == "MultiPolygon"
    parts = value["coordinates"] if multi else [value["coordinates"]]
    rings = list(chain.from_iterable(parts))
    positions = list(chain.from_iterable(rings))
    lon = np.fromiter(map(itemgetter(0), positions), float, len(positions))
    lat = np.fromiter(map(itemgetter(1), positions), float, len(positions))
    starts = list(accumulate(map(len, rings), initial=0))
    return Rings(lon, lat, starts, list(accumulate(map(len, parts), initial=0)), multi, b"")


def contains_point(rings: Rings, longitude: float, latitude: float) -> bool:
    """True if a position, in degrees, is within a valid boundary: if an odd number of its edges
    cross the line from there to the east."""
    is_above = rings.lat > latitude
    is_crossed = is_above[1:] != is_above[:-1]
    is_crossed[np.array(rings.starts[1:-1], dtype=np.intp) - 1] = False  # from one ring to the next
    start = np.flatnonzero(is_crossed)
    x1, y1 = rings.lon[start], rings.lat[start]
    x2, y2 = rings.lon[start + 1], rings.lat[start + 1]
    crossed_at = x1 + (x2 - x1) * (latitude - y1) / (y2 - y1)
    return bool(np.count_nonzero(crossed_at > longitude) % 2)


def _are_lists(values: Sequence[object]) -> bool:
    """True if there are values and all are lists; neither tuples nor strings are."""
    return isinstance(values, list) and set(map(type, values)) == {list}


def _json_of_numbers(coordinates: object) -> bytes | None:
    """Return the coordinates as JSON; None when they contain strings, objects, true or false.

    numpy would accept "5" and true as numbers. Checking the type of each ordinate takes longer than
    writing its JSON, which is needed anyway and has bytes for them that numbers do not have.
    """
    try:
        json = orjson.dumps(coordinates)
    except orjson.JSONEncodeError:  # no JSON value, an integer past 64 bits, or nested too deep
        return None
    return None if any(byte in json for byte in b'"tf') else json


def _ring_ordinates(positions: list[list[Any]]) -> tuple[Floats, Floats] | None:
    """Return longitudes and latitudes; None when a position has a wrong length or range."""
    count, sizes = len(positions), set(map(len, positions))
    if not sizes <= {2, 3}:
        return None
    try:
        lon = np.fromiter(map(itemgetter(0), positions), float, count)
        lat = np.fromiter(map(itemgetter(1), positions), float, count)
        # The last ordinate is the height, or the latitude again.
        last = np.fromiter(map(itemgetter(-1), positions), float, count) if 3 in sizes else lat
    except (TypeError, ValueError):  # an array, object or null where a number should be
        return None
    is_in_range = _all_within(lon, 180) and _all_within(lat, 90)
    is_in_range = is_in_range and (last is lat or _all_within(last, MAX_HEIGHT))
    return (lon, lat) if is_in_range else None


def _all_within(ordinates: Floats, limit: float) -> bool:
    """True if all are within ±limit; NaN is not."""
    return bool(-limit <= ordinates.min() and ordinates.max() <= limit)
