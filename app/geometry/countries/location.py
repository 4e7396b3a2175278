"""The country that a boundary lies in.

Mostly the box around it lies in one piece of a country, which settles it. Otherwise its shape is
compared with the pieces; how much of it lies in each country is measured only where there are
several. The time for this depends on the shape, so a large one, or one near many pieces, is
compared in another process with a limit of time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import shapely

from app.geometry import timed
from app.geometry.bounding_boxes import Bounds
from app.geometry.countries.natural_earth import (
    World,
    installed_world,
    load_world,
    project_latitude,
    project_polygons,
    project_positions,
    projected_length,
)
from app.geometry.countries.samples import sample_points
from app.geometry.polygons import build_polygons
from app.geometry.rings import Floats, Integers, Rings
from app.geometry.timed import Slot
from app.policy.countries import NAMES, NEAREST_KM, WITH_ARTICLE
from app.policy.request_limits import COUNTRIES_LATEST, COUNTRIES_SECONDS
from app.values import processor_clock

_CELLS: Final = 4  # in a degree
_CACHED_BOXES: Final = 10_000
_POINTS: Final = 225  # to find the country in which most of a boundary lies

# Limits of what is compared in this process: positions, and pairs of a position and a piece within
# NEAREST_KM of the box around them. That takes some 0.15 s at worst.
POSITIONS_HERE: Final = 5_000
_PAIRS_HERE: Final = 200_000

Country = str | None | Literal[False]  # a code; None: no country; False: unknown


def country_of(rings: Rings, bounds: Bounds, expensive: Slot = nullcontext) -> Country:
    """The country in which most of a valid boundary lies, as ISO 3166-1 alpha-2; else the nearest
    one within NEAREST_KM; None if there is none. False if it takes too long to find out, or the
    countries are not installed.

    Args:
        expensive: as in ``compare_with_countries``.
    """
    country = country_of_box(bounds)
    if country is not False or load_world() is None:
        return country
    polygons = build_polygons(rings)
    answer = compare_with_countries(country_of_shape, polygons, expensive=expensive)
    return False if answer is None else answer[0]


def compare_with_countries(
    function: Callable[..., Any], polygons: Any, *others: Any, expensive: Slot = nullcontext
) -> list[Any] | None:
    """Call a function that compares polygons with the countries. Returns its result, as the only
    item of a list, or None if it takes longer than COUNTRIES_SECONDS of processor time, or the
    request has used COUNTRIES_LATEST before it ends.

    Args:
        function: takes polygons and ``others``. These and its result can be marshalled.
        expensive: a context that is entered where another process compares them.
    """
    if _is_compared_here(polygons):
        return [function(polygons, *others)]
    with expensive():
        seconds = min(COUNTRIES_SECONDS, COUNTRIES_LATEST - processor_clock.used())
        return timed.call_timed(function, [polygons], *others, seconds=seconds, before=load_world)


def _is_compared_here(polygons: Any) -> bool:
    world, positions = load_world(), int(shapely.get_num_coordinates(polygons))
    assert world is not None
    box = Bounds(*polygons.bounds)
    reach = projected_length(NEAREST_KM, max(abs(box.south), abs(box.north)))
    near = world.tree.query(_projected_box(box).buffer(reach))
    return positions <= POSITIONS_HERE and positions * len(near) <= _PAIRS_HERE


def country_at(longitude: float, latitude: float) -> str | None:
    """The country that a place lies in, in degrees; else the nearest one within NEAREST_KM."""
    return None if load_world() is None else _country_of_place(longitude, latitude)


@lru_cache(_CACHED_BOXES)
def _country_of_place(longitude: float, latitude: float) -> str | None:
    """``country_at``, which is asked again and again for the projects of an account."""
    country = country_of_box(Bounds(longitude, latitude, longitude, latitude))
    if country is not False:
        return country
    world = installed_world()
    point = shapely.Point(longitude, project_latitude(latitude))
    reach = projected_length(NEAREST_KM, latitude)
    nearest = world.tree.query_nearest(point, max_distance=reach)
    return world.code(nearest[0]) if len(nearest) else None


def country_name(code: str) -> str:
    """The name of a country in English; its code where the countries are not installed."""
    world = load_world()
    return NAMES.get(code) or (world.names.get(code, code) if world else code)


def country_box(code: str) -> tuple[float, float, float, float] | None:
    """West, south, east and north of a country without its remote parts; None: it is unknown."""
    world = load_world()
    return world.boxes.get(code) if world else None


def country_phrase(code: str) -> str:
    """The name of a country within a sentence, some with an article."""
    return f"the {country_name(code)}" if code in WITH_ARTICLE else country_name(code)


def country_of_box(box: Bounds) -> Country:
    """The country of everything in a box; False if there may be several, or none."""
    if (world := load_world()) is None or box.east > 180:
        return False
    west, south = math.floor(box.west * _CELLS), math.floor(box.south * _CELLS)
    country = _country_of_cells(
        west, south, math.ceil(box.east * _CELLS), math.ceil(box.north * _CELLS)
    )
    return _country_around(world, box) if country is False else country


@lru_cache(_CACHED_BOXES)
def _country_of_cells(west: int, south: int, east: int, north: int) -> Country:
    """``country_of_box`` of a box of cells. The boundaries of an account lie close to each other,
    and a lookup in the tree takes ten times as long."""
    world = installed_world()
    sides = (west / _CELLS, south / _CELLS, east / _CELLS, north / _CELLS)
    return _country_around(world, Bounds(*sides))


def _country_around(world: World, box: Bounds) -> Country:
    """The country that has a box within one of its pieces, else False."""
    polygon = _projected_box(box)
    near: list[int] = world.tree.query(polygon).tolist()
    for index in near:
        if shapely.contains_properly(world.pieces[index], polygon):
            return world.code(index)
    return False


def _projected_box(box: Bounds) -> Any:
    south, north = project_latitude(box.south), project_latitude(box.north)
    return shapely.box(box.west, south, box.east, north)


def country_of_shape(polygons: Any) -> str | None:
    """The country of polygons, in degrees, where ``country_of_box`` is False. The countries are
    installed."""
    world = installed_world()
    projected = project_polygons(polygons)
    owners: set[int] = set(world.owner[world.tree.query(projected, "intersects")].tolist())
    if len(owners) == 1:
        return world.codes[owners.pop()]
    if owners:
        inner = sample_points(polygons, _POINTS)
        point, owner = owners_of(world, inner.lon, inner.lat)
        if len(point):
            return world.codes[int(np.bincount(owner, inner.weight[point]).argmax())]
    _, south, _, north = shapely.bounds(polygons)
    reach = projected_length(NEAREST_KM, max(abs(south), abs(north)))
    nearest = world.tree.query_nearest(projected, max_distance=reach)
    return world.code(nearest[0]) if len(nearest) else None


def owners_of(world: World, lon: Floats, lat: Floats) -> tuple[Integers, Integers]:
    """The indices of the points that lie in a country, and those of their countries in
    ``world.codes``."""
    points: Any = shapely.points(*project_positions(lon, lat))
    point, piece = world.tree.query(points, "intersects")
    point, first = np.unique(point, return_index=True)  # on a border it is in two pieces
    return point, world.owner[piece[first]]
