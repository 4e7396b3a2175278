"""Points within the parts of a boundary, to compare it with the countries in bounded time."""

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


def sample_points(polygons: Any, most: int) -> Samples:
    """Points within the largest parts of a valid boundary, at least one in each: those of about
    ``most`` points on grids in the boxes around the parts."""
    parts: Any = shapely.get_parts(polygons)
    west, south, east, north = shapely.bounds(parts).T
    areas = shapely.area(parts) * np.cos(np.radians((south + north) / 2))
    largest = np.argsort(-areas, kind="stable")[:_PARTS]
    side = max(2, int((most / len(largest)) ** 0.5))
    steps = (np.arange(side) + 0.5) / side
    across, up = (axis.ravel() for axis in np.meshgrid(steps, steps))
    width, height = (east - west)[largest, None], (north - south)[largest, None]
    lon, lat = west[largest, None] + width * across, south[largest, None] + height * up
    shapely.prepare(parts[largest])
    is_within = shapely.contains_xy(parts[largest, None], lon, lat)
    row, column = np.nonzero(is_within)
    lon, lat = lon[row, column], lat[row, column]
    missing = np.flatnonzero(~is_within.any(axis=1))
    if len(missing):
        inner = shapely.get_coordinates(shapely.point_on_surface(parts[largest[missing]]))
        lon, lat = np.append(lon, inner[:, 0]), np.append(lat, inner[:, 1])
        row = np.append(row, missing)
    share = areas[largest] / np.bincount(row, minlength=len(largest)) / (areas.sum() or 1)
    return Samples(lon, lat, largest[row], share[row])
