"""Boundaries and locations as GeoJSON: validity, area and bounds. No I/O.

``read_boundary`` and ``read_point`` check a parsed value and raise ``GeometryInvalid`` with every
``Problem``; ``read_bbox`` reads the box of a query, and ``overlaps`` compares two boxes.
``is_same_boundary`` compares two boundaries, and ``overlay`` measures what they have in common and
how they differ; ``overlay_cost`` says before how long that can take. ``read_box`` and
``read_shape`` read the shape of a query, which says what intersects it; ``crs`` has other
coordinate systems for maps.

A boundary is read in ``boundary``, in this order; each step needs the ones before:

* ``members``: it is an object of this type, with ``coordinates`` and no other coordinate system;
* ``rings``: its coordinates are closed rings of numbers, as arrays. When they are not,
  ``structure`` says what is wrong where;
* ``complexity``: it can be validated in reasonable time;
* ``edges``: no edge spans half the globe;
* ``polygons``: shapely's polygons of the rings, and ``shapely.is_valid`` in ``boundary``. When it
  says no, ``faults`` says why, and ``locate`` where;
* ``area`` and ``bounds``: square metres on the ellipsoid, and the box around it.
"""

from app.geometry.area import geodesic_area, multipart_area
from app.geometry.boundary import Boundary, read_boundary
from app.geometry.bounds import Bounds, overlaps, read_bbox
from app.geometry.crs import CRS84, EPSG_3857, EPSG_4326, SYSTEMS, Crs, from_degrees, to_degrees
from app.geometry.overlay import (
    UNKNOWN,
    Difference,
    Shape,
    common_area,
    difference,
    shape_of,
    stored_shape,
)
from app.geometry.point import Point, read_point
from app.geometry.problems import MAX_PROBLEMS, PROBLEM_CODES, GeometryInvalid, Problem
from app.geometry.query_shapes import QueryShape, ShapeInvalid, read_box, read_shape
from app.geometry.sameness import SAME_WITHIN, is_same_boundary

__all__ = [
    "CRS84",
    "EPSG_3857",
    "EPSG_4326",
    "MAX_PROBLEMS",
    "PROBLEM_CODES",
    "SAME_WITHIN",
    "SYSTEMS",
    "UNKNOWN",
    "Boundary",
    "Bounds",
    "Crs",
    "Difference",
    "GeometryInvalid",
    "Point",
    "Problem",
    "QueryShape",
    "Shape",
    "ShapeInvalid",
    "common_area",
    "difference",
    "from_degrees",
    "geodesic_area",
    "is_same_boundary",
    "multipart_area",
    "overlaps",
    "read_bbox",
    "read_boundary",
    "read_box",
    "read_point",
    "read_shape",
    "shape_of",
    "stored_shape",
    "to_degrees",
]
