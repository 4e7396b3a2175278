"""A small map of features as SVG, without scripts and backgrounds."""

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
_SMALLEST: Final = 0.002  # least degrees of the width and the height


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


class SvgMap(NamedTuple):
    """The shapes and the size of an SVG."""

    width: int
    height: int
    shapes: list[DrawnShape]


def draw_svg_map(outlines: Iterable[Outline]) -> SvgMap | None:
    """Draw features with north at the top; None if there is nothing to draw."""
    features = [(outline, list(_outline_rings(outline.geometry))) for outline in outlines]
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
    return SvgMap(_WIDTH, _HEIGHT, shapes)


def _drawn_shape(outline: Outline, rings: Sequence[NDArray[np.float64]]) -> DrawnShape:
    if len(rings) == 1 and len(rings[0]) == 1:
        x, y = np.round(rings[0][0], 1).tolist()
        return DrawnShape(outline.title, outline.url, "", (x, y))
    return DrawnShape(outline.title, outline.url, "".join(map(_ring_path, rings)), None)


def _ring_path(ring: NDArray[np.float64]) -> str:
    """Return the path of a ring, to a tenth of a pixel, without repeated positions."""
    rounded = np.round(ring, 1)
    moved = np.any(np.diff(rounded, axis=0) != 0, axis=1)
    positions = rounded[np.concatenate(([True], moved))]
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in positions.tolist()) + "Z"


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
