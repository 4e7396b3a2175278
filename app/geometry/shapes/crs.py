"""The coordinate systems in which programs draw maps.

``CRS84`` is WGS 84 with the longitude first; everything is stored in it. ``EPSG:4326`` is the same
with the latitude first, as the authority defines it. ``EPSG:3857`` is Web Mercator, in meters. It
ends at some 85 degrees: positions nearer to a pole are moved there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

Positions: TypeAlias = NDArray[np.float64]  # shape (n, 2)

_METERS: Final = 6378137.0 * np.pi / 180  # a degree of longitude in Web Mercator
MAX_LATITUDE: Final = 85.0511287798066  # where the world is a square in Web Mercator
_LONGEST: Final = 1e9  # meters; longer ordinates are cut to this


class Crs(NamedTuple):
    """A coordinate system. ``decimals``: of its positions, if they are rounded."""

    uri: str
    from_degrees: Callable[[Positions], Positions]
    to_degrees: Callable[[Positions], Positions]
    decimals: int | None = None


def _copy_positions(positions: Positions) -> Positions:
    return positions


def _swap_positions(positions: Positions) -> Positions:
    return positions[:, ::-1]


def _from_degrees(positions: Positions) -> Positions:
    latitudes = np.clip(positions[:, 1], -MAX_LATITUDE, MAX_LATITUDE)
    north = np.degrees(np.arctanh(np.sin(np.radians(latitudes))))
    return np.column_stack((positions[:, 0], north)) * _METERS


def _to_degrees(positions: Positions) -> Positions:
    east, north = (np.clip(positions, -_LONGEST, _LONGEST) / _METERS).T
    return np.column_stack((east, np.degrees(np.arctan(np.sinh(np.radians(north))))))


CRS84: Final = Crs("http://www.opengis.net/def/crs/OGC/1.3/CRS84", _copy_positions, _copy_positions)
EPSG_4326: Final = Crs(
    "http://www.opengis.net/def/crs/EPSG/0/4326", _swap_positions, _swap_positions
)
EPSG_3857: Final = Crs(
    "http://www.opengis.net/def/crs/EPSG/0/3857", _from_degrees, _to_degrees, decimals=4
)
SYSTEMS: Final = (CRS84, EPSG_3857, EPSG_4326)
_DEGREE_DECIMALS: Final = 9  # a tenth of a millimeter, for positions sent in meters


def from_degrees(text: str, crs: Crs) -> str:
    """The GeoJSON text of a stored geometry in another system; heights do not change."""
    return (
        text
        if crs is CRS84
        else _transform_geometry(orjson.loads(text), crs.from_degrees, crs.decimals)
    )


def to_degrees(geometry: Any, crs: Crs) -> Any:
    """A parsed geometry in longitude and latitude.

    Anything else is returned unchanged: ``read_boundary`` or ``read_point`` says what is wrong.
    """
    if crs is CRS84 or not isinstance(geometry, dict):
        return geometry
    decimals = None if crs.decimals is None else _DEGREE_DECIMALS
    try:
        return orjson.loads(_transform_geometry(geometry, crs.to_degrees, decimals))
    except (KeyError, IndexError, TypeError, ValueError):
        return geometry


def _transform_geometry(
    geometry: dict[str, Any], transform: Callable[[Positions], Positions], decimals: int | None
) -> str:
    """The JSON text of a geometry whose positions are transformed."""
    positions: list[list[float]] = []
    _collect_positions(geometry["coordinates"], positions)
    if not {type(number) for position in positions for number in position} <= {int, float}:
        raise TypeError("an ordinate is no number, which numpy might take for one")
    moved = transform(np.array([position[:2] for position in positions], dtype=float))
    if decimals is not None:
        moved = np.round(moved, decimals)
    for position, place in zip(positions, moved.tolist(), strict=True):
        position[:2] = place
    return orjson.dumps(geometry).decode()


def _collect_positions(coordinates: Any, into: list[list[float]]) -> None:
    """Append the positions at the ends of nested arrays, at most four deep."""
    level = [coordinates]
    for _ in range(4):
        if not isinstance(level[0][0], list):
            break
        level = [inner for outer in level for inner in outer]
    into.extend(level)
