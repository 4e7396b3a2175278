"""The country that a boundary lies in.

Mostly a box around it lies in one piece of a country, which is all that has to be known. Otherwise
its shape is compared with the pieces; only where it lies in several countries is it looked at how
much of it lies in each. How long that takes depends on the shape, so that a large one, or one near
many pieces, is compared in a process that is ended in time.
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
from app.geometry.bounds import Bounds
from app.geometry.countries.natural_earth import (
    World,
    installed_world,
    length,
    load_world,
    project_latitude,
    project_polygons,
    projected,
)
from app.geometry.countries.samples import sample
from app.geometry.polygons import build_polygons
from app.geometry.rings import Floats, Integers, Rings
from app.geometry.timed import Slot
from app.policy.countries import NEAREST_KM
from app.policy.request_limits import COUNTRIES_LATEST, COUNTRIES_SECONDS
from app.values import processor_clock

_CELLS: Final = 4  # in a degree
_KEPT: Final = 10_000  # answers for boxes of cells
_POINTS: Final = 225  # to tell in which of several countries most of a boundary lies

# A boundary of at most so many positions is compared in this process, if it makes at most so many
# pairs of a position and a piece within NEAREST_KM of its box: that takes some 0.15 s at worst.
_POSITIONS_HERE: Final = 5_000
_PAIRS_HERE: Final = 200_000

Found = str | None | Literal[False]  # a country, none, or False: it is not known


def country_of(rings: Rings, bounds: Bounds, expensive: Slot = nullcontext) -> Found:
    """The country in which most of a valid boundary lies, as ISO 3166-1 alpha-2; else the nearest
    one within NEAREST_KM; None if there is none; False if it takes too long to find out (see
    ``compare``), or the countries are not installed.

    Args:
        expensive: as ``compare`` takes it.
    """
    found = country_of_box(bounds)
    if found is not False or load_world() is None:
        return found
    answer = compare(country_of_shape, build_polygons(rings), expensive=expensive)
    return False if answer is None else answer[0]


def compare(
    function: Callable[..., Any], polygons: Any, *others: Any, expensive: Slot = nullcontext
) -> list[Any] | None:
    """What a function returns that compares polygons with the countries, as the only item of a
    list; or None if that takes longer than COUNTRIES_SECONDS of processor time, or would end after
    the request has used COUNTRIES_LATEST.

    Args:
        function: takes polygons, and ``others``, and returns something. Both can be marshalled.
        expensive: a context that is entered where another process compares them.
    """
    if _is_compared_here(polygons):
        return [function(polygons, *others)]
    with expensive():
        seconds = min(COUNTRIES_SECONDS, COUNTRIES_LATEST - processor_clock.used())
        return timed.call(function, polygons, *others, seconds=seconds, once=load_world)


def _is_compared_here(polygons: Any) -> bool:
    world, positions = load_world(), int(shapely.get_num_coordinates(polygons))
    assert world is not None
    box = Bounds(*polygons.bounds)
    reach = length(NEAREST_KM, max(abs(box.south), abs(box.north)))
    near = world.tree.query(_drawn_box(box).buffer(reach))
    return positions <= _POSITIONS_HERE and positions * len(near) <= _PAIRS_HERE


def country_at(longitude: float, latitude: float) -> str | None:
    """The country that a place lies in, in degrees; else the nearest one within NEAREST_KM."""
    if (world := load_world()) is None:
        return None
    found = country_of_box(Bounds(longitude, latitude, longitude, latitude))
    if found is not False:
        return found
    point = shapely.Point(longitude, project_latitude(latitude))
    reach = length(NEAREST_KM, latitude)
    nearest = world.tree.query_nearest(point, max_distance=reach)
    return world.code(nearest[0]) if len(nearest) else None


def country_name(code: str) -> str:
    """The name of a country in English; its code where the countries are not installed."""
    world = load_world()
    return world.names.get(code, code) if world else code


def country_of_box(box: Bounds) -> Found:
    """The country of whatever lies in a box; False if that depends on what it is."""
    if (world := load_world()) is None or box.east > 180:
        return False
    west, south = math.floor(box.west * _CELLS), math.floor(box.south * _CELLS)
    found = _country_of_cells(
        west, south, math.ceil(box.east * _CELLS), math.ceil(box.north * _CELLS)
    )
    return _country_around(world, box) if found is False else found


@lru_cache(_KEPT)
def _country_of_cells(west: int, south: int, east: int, north: int) -> Found:
    """The same for a box of cells: boundaries of an account lie close to each other, and looking
    one up in the tree takes ten times as long."""
    world = installed_world()
    sides = (west / _CELLS, south / _CELLS, east / _CELLS, north / _CELLS)
    return _country_around(world, Bounds(*sides))


def _country_around(world: World, box: Bounds) -> Found:
    """The country of which one piece has all of a box in it, else False."""
    drawn = _drawn_box(box)
    near: list[int] = world.tree.query(drawn).tolist()
    for index in near:
        if shapely.contains_properly(world.pieces[index], drawn):
            return world.code(index)
    return False


def _drawn_box(box: Bounds) -> Any:
    south, north = project_latitude(box.south), project_latitude(box.north)
    return shapely.box(box.west, south, box.east, north)


def country_of_shape(polygons: Any) -> str | None:
    """The country of polygons, in degrees, whose box does not tell; the countries are installed."""
    world = installed_world()
    drawn = project_polygons(polygons)
    owners: set[int] = set(world.owner[world.tree.query(drawn, "intersects")].tolist())
    if len(owners) == 1:
        return world.codes[owners.pop()]
    if owners:
        inner = sample(polygons, _POINTS)
        point, owner = owners_of(world, inner.lon, inner.lat)
        if len(point):
            return world.codes[int(np.bincount(owner, inner.weight[point]).argmax())]
    _, south, _, north = shapely.bounds(polygons)
    reach = length(NEAREST_KM, max(abs(south), abs(north)))
    nearest = world.tree.query_nearest(drawn, max_distance=reach)
    return world.code(nearest[0]) if len(nearest) else None


def owners_of(world: World, lon: Floats, lat: Floats) -> tuple[Integers, Integers]:
    """Which of some points lie in a country, and the indices of these countries in
    ``world.codes``."""
    points: Any = shapely.points(*projected(lon, lat))
    point, piece = world.tree.query(points, "intersects")
    point, first = np.unique(point, return_index=True)  # on a border it is in two pieces
    return point, world.owner[piece[first]]
