"""Boundaries and locations as GeoJSON: validity, area and bounds. No I/O.

``read_boundary`` and ``read_point`` check a parsed value and raise ``GeometryInvalid`` with every
``Problem``. A boundary is read in ``boundary``, in this order; each step needs the ones before:

* ``members``: it is an object of this type, with ``coordinates`` and no other coordinate system;
* ``rings``: its coordinates are closed rings of numbers, as arrays. When they are not,
  ``structure`` says what is wrong where;
* ``complexity``: it can be validated in reasonable time;
* ``edges``: no edge spans half the globe;
* ``polygons``: shapely's polygons of the rings, and ``shapely.is_valid`` in ``boundary``. When it
  says no, ``faults`` says why, and ``locate`` where;
* ``area`` and ``bounding_boxes``: square meters on the ellipsoid, and the box around it.
"""

from app.geometry.area import boundary_perimeter, geodesic_area
from app.geometry.boundary import Boundary, measured_boundary, read_boundary
from app.geometry.bounding_boxes import (
    WORLD,
    Bounds,
    bbox_member,
    box_around,
    middle_of_box,
    read_bbox,
    tightest_box,
    wrapped_box,
)
from app.geometry.point import Point, read_point
from app.geometry.polygons import middle_of
from app.geometry.problems import PROBLEM_CODES, GeometryInvalid, Problem
from app.geometry.rings import contains_point, stored_rings
from app.geometry.sameness import SAME_WITHIN, is_same_boundary

__all__ = [
    "PROBLEM_CODES",
    "SAME_WITHIN",
    "WORLD",
    "Boundary",
    "Bounds",
    "GeometryInvalid",
    "Point",
    "Problem",
    "bbox_member",
    "boundary_perimeter",
    "box_around",
    "contains_point",
    "geodesic_area",
    "is_same_boundary",
    "measured_boundary",
    "middle_of",
    "middle_of_box",
    "read_bbox",
    "read_boundary",
    "read_point",
    "stored_rings",
    "tightest_box",
    "wrapped_box",
]
