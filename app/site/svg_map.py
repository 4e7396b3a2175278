"""A small map of features as SVG, without scripts and backgrounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from app.geometry.shapes import map_shape
from app.site import formats

_WIDTH: Final = 720
_HEIGHT: Final = 420
_MARGIN: Final = 28
_SMALLEST: Final = 0.002  # least degrees of the width and the height
_DEGREE: Final = 111_195  # meters of a degree of latitude
_LONG_TEXT: Final = 40_000  # characters of a geometry that is simplified
_FARTHEST_ZOOM: Final = 30
_TICKS: Final = 5  # coordinates on a side, about


class Outline(NamedTuple):
    """A feature to draw. ``geometry`` is the GeoJSON text of a boundary or a location."""

    title: str
    url: str
    geometry: str


class DrawnShape(NamedTuple):
    """A drawn feature: the path of an SVG, or the center of a dot."""

    title: str
    url: str
    path: str
    dot: tuple[float, float] | None


class Tick(NamedTuple):
    """A coordinate on a side of a map."""

    at: float  # from the left or the top
    text: str


class SvgMap(NamedTuple):
    """The shapes and the size of an SVG."""

    width: int
    height: int
    shapes: list[DrawnShape]
    middle: tuple[float, float]  # longitude and latitude
    factors: tuple[float, float]  # from degrees to x and y

    def place(self, longitude: float, latitude: float) -> tuple[float, float]:
        """Return x and y of a position."""
        east = _wrap(longitude - self.middle[0])
        return (
            round(self.width / 2 + east * self.factors[0], 1),
            round(self.height / 2 + (latitude - self.middle[1]) * self.factors[1], 1),
        )

    def ticks(self) -> tuple[list[Tick], list[Tick]]:
        """Return the coordinates at the top, and those on the left."""
        longitudes = _round_numbers(self.middle[0], self.width / 2 / self.factors[0])
        latitudes = _round_numbers(self.middle[1], self.height / 2 / -self.factors[1])
        return (
            [Tick(self.place(each, 0)[0], _degree(_wrap(each), "EW")) for each in longitudes],
            [Tick(self.place(0, each)[1], _degree(each, "NS")) for each in latitudes],
        )

    def scale_bar(self) -> tuple[float, str]:
        """Return the length of a scale bar, and the distance that it stands for."""
        per_meter = -self.factors[1] / _DEGREE
        meters = _round_number(self.width / 4 / per_meter)
        return round(meters * per_meter, 1), formats.reader().length(meters / 1000, trim=True)


def draw_svg_map(outlines: Iterable[Outline]) -> SvgMap | None:
    """Draw features with north at the top; None if there is nothing to draw."""
    features = [(outline, _shown_rings(outline.geometry)) for outline in outlines]
    rings = [ring for _, own_rings in features for ring in own_rings]
    if not rings:
        return None
    positions = np.concatenate(rings)
    if np.ptp(positions[:, 0]) > 180:  # on both sides of the antimeridian
        for ring in rings:
            ring[:, 0] %= 360
        positions = np.concatenate(rings)
    west, south = positions.min(axis=0)
    east, north = positions.max(axis=0)
    narrow = max(math.cos(math.radians((south + north) / 2)), 0.01)
    width, height = max((east - west) * narrow, _SMALLEST), max(north - south, _SMALLEST)
    scale = min((_WIDTH - 2 * _MARGIN) / width, (_HEIGHT - 2 * _MARGIN) / height)
    middle = np.array([(west + east) / 2, (south + north) / 2])
    factors = np.array([narrow * scale, -scale])
    center = np.array([_WIDTH / 2, _HEIGHT / 2])
    shapes = [
        _drawn_shape(outline, [(ring - middle) * factors + center for ring in own_rings])
        for outline, own_rings in features
    ]
    place = _wrap(middle[0]), middle[1]
    return SvgMap(_WIDTH, _HEIGHT, shapes, place, (factors[0], factors[1]))


def _drawn_shape(outline: Outline, rings: Sequence[NDArray[np.float64]]) -> DrawnShape:
    if len(rings) == 1 and len(rings[0]) == 1:
        x, y = np.round(rings[0][0], 1).tolist()
        return DrawnShape(outline.title, outline.url, "", (x, y))
    return DrawnShape(outline.title, outline.url, "".join(map(_ring_path, rings)), None)


def _ring_path(ring: NDArray[np.float64]) -> str:
    """Return the path of a ring, to a tenth of a pixel, without repeated positions."""
    places = (f"{x:g},{y:g}" for x, y in np.round(ring, 1).tolist())
    return f"M{'L'.join(place for place, _ in groupby(places))}Z"


def _shown_rings(text: str) -> list[NDArray[np.float64]]:
    """Return the rings to draw: those of a long boundary with the positions that can be seen."""
    rings = list(_outline_rings(text))
    if len(text) <= _LONG_TEXT:
        return rings
    positions = np.concatenate(rings)
    longitudes = positions[:, 0]
    if np.ptp(longitudes) > 180:  # on both sides of the antimeridian
        longitudes %= 360
    longer = max(np.ptp(longitudes), np.ptp(positions[:, 1]), _SMALLEST)
    zoom = math.ceil(math.log2(_WIDTH / 256 * 360 / longer))
    shape = map_shape(text, min(max(zoom, 0), _FARTHEST_ZOOM))
    return list(_outline_rings(shape)) if shape else rings


def _outline_rings(text: str) -> Iterator[NDArray[np.float64]]:
    """Yield the rings of a boundary, or the position of a location, as arrays of (longitude,
    latitude)."""
    geometry: Any = orjson.loads(text)
    kind, coordinates = geometry["type"], geometry["coordinates"]
    if kind == "Point":
        coordinates = [[[coordinates]]]
    for part in [coordinates] if kind == "Polygon" else coordinates:
        for ring in part:
            yield np.array([position[:2] for position in ring], dtype=float)


def _wrap(longitude: float) -> float:
    return (longitude + 180) % 360 - 180


def _round_numbers(middle: float, half: float) -> list[float]:
    """Return about ``_TICKS`` multiples of a round number, within 80% of ``half`` around a
    number."""
    low, high = middle - 0.8 * half, middle + 0.8 * half
    step = _round_number((high - low) / _TICKS, up=True)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _round_number(most: float, *, up: bool = False) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten up to a number; the smallest from it
    on if ``up``."""
    power = 10.0 ** math.floor(math.log10(most))
    choices = [factor * power for factor in (1, 2, 5, 10)]
    return min(n for n in choices if n >= most) if up else max(n for n in choices if n <= most)


def _degree(number: float, letters: str) -> str:
    """Write a longitude or latitude, such as ``46.458° N``."""
    return formats.reader().degree(number, letters, 6, trim=True)
