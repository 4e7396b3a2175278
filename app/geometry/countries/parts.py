"""The parts of a boundary that lie far from land, or in another country than most of it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely

from app.geometry.countries.location import owners_of
from app.geometry.countries.natural_earth import (
    installed_world,
    project_polygons,
    project_positions,
    projected_length,
    unit_kilometers,
)
from app.geometry.countries.samples import sample_points
from app.geometry.rings import Integers
from app.policy.countries import INSIDE_KM, NEAREST_KM

_FOREIGN_AREA: Final = 0.01  # a share
_POINTS: Final = 2_500  # to find parts in another country
_PARTS: Final = 300  # the largest ones; for smaller ones, land is not searched

# The index of a part, its country, and the longitude and latitude of a position there.
Elsewhere = list[tuple[int, str, float, float]]


def far_parts(polygons: Any, country: str | None) -> tuple[list[int], Elsewhere]:
    """The parts of a valid boundary that have no land within NEAREST_KM, counted from 0, and those
    of ``parts_elsewhere``.

    Args:
        polygons: in degrees; the countries are installed.
        country: where most of it lies; None: in none.
    """
    is_on_land = country is not None and shapely.get_num_geometries(polygons) == 1
    in_the_sea = [] if is_on_land else _in_the_sea(polygons)
    return in_the_sea, parts_elsewhere(polygons, country) if country else []


def _in_the_sea(polygons: Any) -> list[int]:
    world = installed_world()
    parts: Any = shapely.get_parts(polygons)
    projected = project_polygons(parts)
    largest = np.argsort(-shapely.area(projected), kind="stable")[:_PARTS]
    _, south, _, north = shapely.bounds(parts[largest]).T
    reach = projected_length(NEAREST_KM, np.maximum(np.abs(south), np.abs(north)))
    near_land = world.tree.query(projected[largest], "dwithin", reach)[0]
    in_the_sea: list[int] = sorted(np.delete(largest, np.unique(near_land)).tolist())
    return in_the_sea


def parts_elsewhere(polygons: Any, country: str) -> Elsewhere:
    """The parts of a valid boundary that lie in another country, farther than INSIDE_KM from its
    own. If no part lies there completely, but _FOREIGN_AREA of the area does, the first part that
    reaches there.

    Args:
        polygons: in degrees; the countries are installed.
        country: where most of it lies.
    """
    world = installed_world()
    inner = sample_points(polygons, _POINTS)
    point, owner = owners_of(world, inner.lon, inner.lat)
    home = world.codes.index(country)
    point, owner = point[owner != home], owner[owner != home]
    if not len(point):
        return []
    lon, lat = inner.lon[point], inner.lat[point]
    land: Any = shapely.STRtree(world.pieces[world.owner == home])
    points: Any = shapely.points(*project_positions(lon, lat))
    (index, _), distances = land.query_nearest(points, return_distance=True, all_matches=False)
    is_far = distances * unit_kilometers(lat[index]) > INSIDE_KM
    point, owner = point[index[is_far]], owner[index[is_far]]
    parts, first = np.unique(inner.part[point], return_index=True)
    whole = _count_values(inner.part, parts) == _count_values(inner.part[point], parts)
    if not whole.any():
        if inner.weight[point].sum() < _FOREIGN_AREA:
            return []
        whole[0] = True
    first = first[whole]
    codes = [world.codes[int(index)] for index in owner[first]]
    places = inner.lon[point[first]].tolist(), inner.lat[point[first]].tolist()
    return list(zip(parts[whole].tolist(), codes, *places, strict=True))


def _count_values(values: Integers, of: Integers) -> Integers:
    """The number of times that each of ``of`` occurs among ``values``."""
    return np.bincount(values, minlength=int(of.max(initial=0)) + 1)[of]
