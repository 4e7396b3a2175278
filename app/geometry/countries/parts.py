"""The parts of a boundary that lie far from land, or in another country than most of it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely

from app.geometry.countries.location import owners_of
from app.geometry.countries.natural_earth import (
    installed_world,
    kilometers,
    length,
    project_polygons,
    projected,
)
from app.geometry.countries.samples import sample
from app.geometry.rings import Integers
from app.policy.countries import INSIDE_KM, NEAREST_KM

_SHARE: Final = 0.01  # of the area, in another country
_POINTS: Final = 2_500  # that are looked up to find what lies in another country
_PARTS: Final = 300  # the largest ones, for which land is looked for


Elsewhere = list[tuple[int, str, float, float]]


def far_parts(polygons: Any, country: str | None) -> tuple[list[int], Elsewhere]:
    """The parts of a valid boundary that have no land within NEAREST_KM, counted from 0, and those
    of ``parts_elsewhere``.

    Args:
        polygons: in degrees; the countries are installed.
        country: the one that most of it lies in; None: none.
    """
    is_on_land = country is not None and shapely.get_num_geometries(polygons) == 1
    in_the_sea = [] if is_on_land else _in_the_sea(polygons)
    return in_the_sea, parts_elsewhere(polygons, country) if country else []


def _in_the_sea(polygons: Any) -> list[int]:
    world = installed_world()
    parts: Any = shapely.get_parts(polygons)
    drawn = project_polygons(parts)
    chosen = np.argsort(-shapely.area(drawn), kind="stable")[:_PARTS]
    _, south, _, north = shapely.bounds(parts[chosen]).T
    farthest = np.maximum(np.abs(south), np.abs(north))  # from the equator
    near = world.tree.query(drawn[chosen], "dwithin", length(NEAREST_KM, farthest))[0]
    found: list[int] = sorted(np.delete(chosen, np.unique(near)).tolist())
    return found


def parts_elsewhere(polygons: Any, country: str) -> Elsewhere:
    """The parts of a valid boundary that lie in another country, farther than INSIDE_KM from the
    one of most: each, counted from 0, with that country, and the longitude and latitude of a place
    there. Where no part is whole in another country, it is the first one, if _SHARE of the area is.

    Args:
        polygons: in degrees; the countries are installed.
        country: the one that most of it lies in.
    """
    world = installed_world()
    inner = sample(polygons, _POINTS)
    point, owner = owners_of(world, inner.lon, inner.lat)
    home = world.codes.index(country)
    point, owner = point[owner != home], owner[owner != home]
    if not len(point):
        return []
    lon, lat = inner.lon[point], inner.lat[point]
    land: Any = shapely.STRtree(world.pieces[world.owner == home])
    points: Any = shapely.points(*projected(lon, lat))
    (found, _), distances = land.query_nearest(points, return_distance=True, all_matches=False)
    is_far = distances * kilometers(lat[found]) > INSIDE_KM
    point, owner = point[found[is_far]], owner[found[is_far]]
    parts, first = np.unique(inner.part[point], return_index=True)
    whole = _counts(inner.part, parts) == _counts(inner.part[point], parts)
    if not whole.any():
        if inner.weight[point].sum() < _SHARE:
            return []
        whole[0] = True
    first = first[whole]
    codes = [world.codes[int(each)] for each in owner[first]]
    places = inner.lon[point[first]].tolist(), inner.lat[point[first]].tolist()
    return list(zip(parts[whole].tolist(), codes, *places, strict=True))


def _counts(values: Integers, of: Integers) -> Integers:
    return np.bincount(values, minlength=int(of.max(initial=0)) + 1)[of]
