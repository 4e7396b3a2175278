"""A small map of features, drawn by the server as SVG: no script, nothing from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

_WIDTH: Final = 720
_HEIGHT: Final = 420
_MARGIN: Final = 16
_SMALLEST: Final = 0.002  # degrees that the map is wide and high at least


class Outline(NamedTuple):
    """A feature to draw. ``geometry`` is the GeoJSON text of a boundary or a location."""

    title: str
    url: str
    geometry: str


class Drawn(NamedTuple):
    """A feature as it is drawn: the path of an SVG, or the center of a dot."""

    title: str
    url: str
    path: str
    dot: tuple[float, float] | None


class Map(NamedTuple):
    """A map in an SVG of this size."""

    width: int
    height: int
    shapes: list[Drawn]


def draw(outlines: Iterable[Outline]) -> Map | None:
    """The map of features, with north at the top; None if there is nothing to draw."""
    read = [(outline, list(_rings(outline.geometry))) for outline in outlines]
    rings = [ring for _, each in read for ring in each]
    if not rings:
        return None
    everything = np.concatenate(rings)
    if np.ptp(everything[:, 0]) > 180:  # on both sides of the antimeridian
        for ring in rings:
            ring[:, 0] %= 360
        everything = np.concatenate(rings)
    west, south = everything.min(axis=0)
    east, north = everything.max(axis=0)
    narrow = max(math.cos(math.radians((south + north) / 2)), 0.01)
    width, height = max((east - west) * narrow, _SMALLEST), max(north - south, _SMALLEST)
    scale = min((_WIDTH - 2 * _MARGIN) / width, (_HEIGHT - 2 * _MARGIN) / height)
    middle = np.array([(west + east) / 2, (south + north) / 2])
    factors = np.array([narrow * scale, -scale])
    place = np.array([_WIDTH / 2, _HEIGHT / 2])
    shapes = [
        _drawn(outline, [(ring - middle) * factors + place for ring in each])
        for outline, each in read
    ]
    return Map(_WIDTH, _HEIGHT, shapes)


def _drawn(outline: Outline, rings: Sequence[NDArray[np.float64]]) -> Drawn:
    if len(rings) == 1 and len(rings[0]) == 1:
        x, y = np.round(rings[0][0], 1).tolist()
        return Drawn(outline.title, outline.url, "", (x, y))
    return Drawn(outline.title, outline.url, "".join(map(_path, rings)), None)


def _path(ring: NDArray[np.float64]) -> str:
    """The path of a ring, to a tenth of a pixel, without positions that cannot be told apart."""
    rounded = np.round(ring, 1)
    moved = np.any(np.diff(rounded, axis=0) != 0, axis=1)
    kept = rounded[np.concatenate(([True], moved))]
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in kept.tolist()) + "Z"


def _rings(text: str) -> Iterator[NDArray[np.float64]]:
    """The rings of a boundary, or the one position of a location, as longitude and latitude."""
    geometry: Any = orjson.loads(text)
    kind, coordinates = geometry["type"], geometry["coordinates"]
    if kind == "Point":
        coordinates = [[[coordinates]]]
    for part in [coordinates] if kind == "Polygon" else coordinates:
        for ring in part:
            yield np.array([position[:2] for position in ring], dtype=float)
