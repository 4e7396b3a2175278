"""The countries of Natural Earth at 1:50 million, cut into pieces that are quick to look up.

They are in the file that maps on pages draw land from, which set-up installs
(``bin/_third_party.py``). They are read when they are first needed, or at the start by the process
that the web server and the worker are forked from.

Everything is in Mercator's projection, with a degree of the equator as the unit. It keeps angles,
so a distance is the same in all directions, and pieces can be searched within some kilometers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import shapely
from numpy.typing import NDArray

from app.geometry.rings import Floats
from app.policy.countries import CODES_BY_NAME, CODES_BY_NUMBER, NAMES

_APP: Final = Path(__file__).parents[2]
FILE: Final = _APP / "site" / "static" / "third_party" / "countries-50m.json"
_PIECE_POSITIONS: Final = 100
_NARROW: Final = 1e-3  # degrees; narrower polygons are not cut
_POLE: Final = 89.9  # degrees; positions beyond are moved there
_KM_PER_DEGREE: Final = 111.32  # at the equator
_LARGE_PART, _REMOTE = 0.05, 20  # of a country: by the area of its largest part; in degrees
_BESIDE: Final = 1.0  # degrees; pieces that close to the antimeridian are on both of its sides


class World(NamedTuple):
    """``boxes``: west, south, east and north of each country, by code; ``pieces`` of countries, as
    polygons in Mercator's projection; ``owner``: the index of each in ``codes``; ``codes``: ISO
    3166-1 alpha-2; ``names``: in English, by code; ``tree``: finds pieces."""

    boxes: dict[str, tuple[float, float, float, float]]
    pieces: NDArray[Any]
    owner: NDArray[np.intp]
    codes: list[str]
    names: dict[str, str]
    tree: Any

    def code(self, piece: int) -> str:
        """The code of the country of a piece."""
        return self.codes[int(self.owner[piece])]


def has_world() -> bool:
    """True if the countries are installed, without reading them."""
    return FILE.is_file()


def installed_world() -> World:
    """The countries, for callers that know them to be installed."""
    world = load_world()
    assert world is not None
    return world


@cache
def load_world() -> World | None:
    """Read the countries, which takes a sixth of a second. None: they are not installed."""
    try:
        topology = orjson.loads(FILE.read_bytes())
    except FileNotFoundError:
        return None
    owners: list[str] = []
    pieces: list[Any] = []
    names: dict[str, str] = {}
    boxes: dict[str, tuple[float, float, float, float]] = {}
    for code, name, polygons in _read_countries(topology):
        if code not in names:
            names[code], boxes[code] = NAMES.get(code, name), _box_of(polygons)
        for polygon in polygons:
            polygon_pieces = list(_cut_polygon(polygon))
            pieces += polygon_pieces
            owners += [code] * len(polygon_pieces)
    codes, owner = np.unique(owners, return_inverse=True)
    projected = project_polygons(np.array(pieces))
    west, _, east, _ = shapely.bounds(projected).T
    in_east, in_west = east > 180 - _BESIDE, west < _BESIDE - 180
    beyond = [_move_pieces(projected[in_east], -360), _move_pieces(projected[in_west], 360)]
    projected = np.concatenate([projected, *beyond])
    owner = np.concatenate([owner, owner[in_east], owner[in_west]])
    tree = shapely.STRtree(projected)
    tree.query(shapely.box(0, 0, 1, 1))  # builds it
    return World(boxes, projected, owner, codes.tolist(), names, tree)


def project_positions(lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
    """Positions in degrees, projected."""
    latitude = np.radians(np.clip(lat, -_POLE, _POLE))
    return lon, np.degrees(np.arcsinh(np.tan(latitude)))


def project_polygons(polygons: Any) -> Any:
    """Polygons in degrees, projected."""
    return shapely.transform(
        polygons,
        lambda positions: np.column_stack(project_positions(positions[:, 0], positions[:, 1])),
    )


def project_latitude(lat: float) -> float:
    """One latitude, projected."""
    latitude = math.radians(min(max(lat, -_POLE), _POLE))
    return math.degrees(math.asinh(math.tan(latitude)))


def projected_length(km: float, lat: Any) -> Any:
    """The length of ``km`` in the projection, at a latitude or an array of them."""
    return km / unit_kilometers(lat)


def unit_kilometers(lat: Any) -> Any:
    """The kilometers in a unit of the projection, at a latitude or an array of them."""
    return _KM_PER_DEGREE * np.cos(np.radians(np.clip(lat, -_POLE, _POLE)))


def _move_pieces(pieces: Any, degrees: float) -> Any:
    return shapely.transform(pieces, lambda positions: np.add(positions, (degrees, 0)))


def _read_countries(topology: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the code, the name and the polygons of each country, from TopoJSON with quantized
    arcs."""
    scale, origin = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    arcs = [np.cumsum(arc, axis=0) * scale + origin for arc in topology["arcs"]]

    def ring(numbers: list[int]) -> Any:
        """Each arc begins where the one before it ends; ~number is the reversed arc."""
        lines = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in numbers]
        return _unwrap_ring(np.concatenate([lines[0], *(line[1:] for line in lines[1:])]))

    for country in topology["objects"]["countries"]["geometries"]:
        name = country["properties"]["name"]
        code = CODES_BY_NUMBER.get(country.get("id", ""), CODES_BY_NAME.get(name))
        if code is not None:
            is_multi = country["type"] == "MultiPolygon"
            parts = country["arcs"] if is_multi else [country["arcs"]]
            yield (
                code,
                name,
                [shapely.Polygon(*_shell_and_holes(map(ring, part))) for part in parts],
            )


def _box_of(polygons: list[Any]) -> tuple[float, float, float, float]:
    """The box of the largest of a country's polygons, and of the large ones near it."""
    parts: Any = np.array(polygons)
    areas, (west, south, east, north) = shapely.area(parts), shapely.bounds(parts).T
    largest = areas.argmax()
    near = (west < east[largest] + _REMOTE) & (east > west[largest] - _REMOTE)
    near &= (south < north[largest] + _REMOTE) & (north > south[largest] - _REMOTE)
    sides = shapely.total_bounds(parts[near & (areas >= areas[largest] * _LARGE_PART)])
    return tuple(sides.tolist())


def _unwrap_ring(ring: Any) -> Any:
    """A ring without jumps at the antimeridian, beyond it if need be. One around the South Pole is
    closed along the pole."""
    lon = np.unwrap(ring[:, 0], period=360)
    lon -= 360 * np.round((lon.min() + lon.max()) / 720)
    lat = ring[:, 1]
    if lon[0] != lon[-1]:
        lon, lat = np.append(lon, lon[[-1, 0, 0]]), np.append(lat, [-90, -90, lat[0]])
    return np.column_stack((lon, lat))


def _shell_and_holes(rings: Iterator[Any]) -> tuple[Any, list[Any]]:
    return next(rings), list(rings)


def _cut_polygon(polygon: Any) -> Iterator[Any]:
    """Yield a polygon in pieces of few positions. Rounded positions make some cross themselves."""
    if not shapely.is_valid(polygon):
        for part in _polygons_in(shapely.make_valid(polygon)):
            yield from _cut_polygon(part)
        return
    west, south, east, north = polygon.bounds
    is_narrow = max(east - west, north - south) < _NARROW
    if is_narrow or shapely.get_num_coordinates(polygon) <= _PIECE_POSITIONS:
        yield polygon
        return
    x, y = (west + east) / 2, (south + north) / 2
    if east - west > north - south:
        halves = [(west, south, x, north), (x, south, east, north)]
    else:
        halves = [(west, south, east, y), (west, y, east, north)]
    for half in halves:
        for part in _polygons_in(shapely.clip_by_rect(polygon, *half)):
            yield from _cut_polygon(part)


def _polygons_in(geometry: Any) -> Any:
    parts = shapely.get_parts(shapely.get_parts(geometry))
    return parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON]
