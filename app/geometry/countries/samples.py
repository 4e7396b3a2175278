"""Points within the parts of a boundary, so that what lies where can be told in bounded time."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import shapely

from app.geometry.rings import Floats, Integers

_PARTS: Final = 300  # the largest ones


class Samples(NamedTuple):
    """Points, in degrees; ``part``: the index of the part that each lies in; ``weight``: the share
    of the boundary's area that it stands for."""

    lon: Floats
    lat: Floats
    part: Integers
    weight: Floats


def sample(polygons: Any, most: int) -> Samples:
    """Points within the largest parts of a valid boundary: about ``most`` on grids in the boxes
    around them, of which those are taken that lie within; at least one in each part."""
    parts: Any = shapely.get_parts(polygons)
    west, south, east, north = shapely.bounds(parts).T
    areas = shapely.area(parts) * np.cos(np.radians((south + north) / 2))
    chosen = np.argsort(-areas, kind="stable")[:_PARTS]
    side = max(2, int((most / len(chosen)) ** 0.5))
    steps = (np.arange(side) + 0.5) / side
    across, up = (each.ravel() for each in np.meshgrid(steps, steps))
    wide, high = (east - west)[chosen, None], (north - south)[chosen, None]
    lon, lat = west[chosen, None] + wide * across, south[chosen, None] + high * up
    shapely.prepare(parts[chosen])
    is_within = shapely.contains_xy(parts[chosen, None], lon, lat)
    row, column = np.nonzero(is_within)
    lon, lat = lon[row, column], lat[row, column]
    missing = np.flatnonzero(~is_within.any(axis=1))
    if len(missing):
        inner = shapely.get_coordinates(shapely.point_on_surface(parts[chosen[missing]]))
        lon, lat = np.append(lon, inner[:, 0]), np.append(lat, inner[:, 1])
        row = np.append(row, missing)
    share = areas[chosen] / np.bincount(row, minlength=len(chosen)) / (areas.sum() or 1)
    return Samples(lon, lat, chosen[row], share[row])
