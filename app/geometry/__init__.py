"""Boundaries and locations as GeoJSON: validity, area and bounds. No I/O.

``read_boundary`` and ``read_point`` check a parsed value and raise ``GeometryInvalid`` with every
``Problem``; ``read_bbox`` reads the box of a query, and ``overlaps`` compares two boxes.
"""

from app.geometry.area import geodesic_area, multipart_area
from app.geometry.boundary import Boundary, read_boundary
from app.geometry.bounds import Bounds, overlaps, read_bbox
from app.geometry.point import Point, read_point
from app.geometry.problems import MAX_PROBLEMS, PROBLEM_CODES, GeometryInvalid, Problem

__all__ = [
    "MAX_PROBLEMS",
    "PROBLEM_CODES",
    "Boundary",
    "Bounds",
    "GeometryInvalid",
    "Point",
    "Problem",
    "geodesic_area",
    "multipart_area",
    "overlaps",
    "read_bbox",
    "read_boundary",
    "read_point",
]
