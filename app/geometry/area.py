"""Geodesic areas on the WGS84 ellipsoid.

Edges are geodesics, the shortest lines on the ellipsoid. The method is that of C. F. F. Karney,
"Algorithms for geodesics", Journal of Geodesy 87 (2013), 43-55, as PROJ implements it; it is exact
to well under a square meter for the areas of countries.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np
from pyproj import Geod

from app.geometry.rings import Floats, Rings

_WGS84 = Geod(ellps="WGS84")


def geodesic_area(rings: Sequence[Sequence[Sequence[float]]]) -> float:
    """Return the area of one polygon in m²: its exterior minus its holes.

    ``rings`` are those of a GeoJSON Polygon, the exterior first, positions [longitude, latitude,
    …] in degrees; without any, ValueError is raised. Each ring counts with its absolute area, so
    winding does not matter. Rings may overlap or touch: nothing is checked. A ring has the area of
    its smaller side, at most half of the Earth.
    """
    exterior, *holes = (ring_area([p[0] for p in r], [p[1] for p in r]) for r in rings)
    return exterior - fsum(holes)


def boundary_area(rings: Rings) -> float:
    """Return the area of a boundary in m², by the rules of ``geodesic_area``."""
    spans = map(rings.span, range(len(rings.starts) - 1))
    areas = [ring_area(rings.lon[span], rings.lat[span]) for span in spans]
    return 2 * fsum(areas[ring] for ring in rings.exteriors) - fsum(areas)


def ring_area(lon: Floats | list[float], lat: Floats | list[float]) -> float:
    """Return a ring's area in m². PROJ's has a sign by winding; ``Geod`` is thread-safe."""
    return abs(float(_WGS84.polygon_area_perimeter(lon, lat)[0]))


def covers_over_half_earth(lon: Floats, lat: Floats) -> bool:
    """True if a ring, as drawn in longitude and latitude, covers more than half of the Earth.

    The geodesic area would then be that of its other side. Longitude and the sine of latitude
    preserve areas (Lambert's cylindrical projection), so a trapezoid sum is precise enough; half of
    the Earth is 2π in it.
    """
    if np.ptp(lon) <= 180:
        return False
    heights = np.sin(np.radians(lat))
    sum_of_trapezoids = np.sum(np.diff(np.radians(lon)) * (heights[:-1] + heights[1:]) / 2)
    return bool(abs(sum_of_trapezoids) > 2 * np.pi * (1 + 1e-9))


def boundary_perimeter(rings: Rings) -> float:
    """Return the length of all rings of a boundary in m, including holes."""
    spans = map(rings.span, range(len(rings.starts) - 1))
    return fsum(_WGS84.line_length(rings.lon[span], rings.lat[span]) for span in spans)
