"""What is done with valid boundaries: comparing them, in pieces and with the shape of a query, and
writing them in other coordinate systems. No I/O.

``common_area`` and ``difference`` measure what two boundaries have in common and how they differ;
``overlay_cost`` says before how long that can take. ``read_box`` and ``read_shape`` read the shape
of a query, which says what intersects it. ``crs`` has the coordinate systems of maps, and
``map_shapes`` makes shapes of fewer positions for them.
"""

from __future__ import annotations

from app.geometry.shapes.crs import (
    CRS84,
    EPSG_3857,
    EPSG_4326,
    SYSTEMS,
    Crs,
    from_degrees,
    to_degrees,
)
from app.geometry.shapes.overlay import (
    UNKNOWN,
    Difference,
    Shape,
    common_area,
    difference,
    shape_of,
    stored_shape,
)
from app.geometry.shapes.query_shapes import QueryShape, ShapeInvalid, read_box, read_shape
from app.geometry.shapes.simplify import (
    is_shown_whole,
    level_of,
    map_shape,
    map_shapes,
    pixels,
    point_shape,
)

__all__ = [
    "CRS84",
    "EPSG_3857",
    "EPSG_4326",
    "SYSTEMS",
    "UNKNOWN",
    "Crs",
    "Difference",
    "QueryShape",
    "Shape",
    "ShapeInvalid",
    "common_area",
    "difference",
    "from_degrees",
    "is_shown_whole",
    "level_of",
    "map_shape",
    "map_shapes",
    "pixels",
    "point_shape",
    "read_box",
    "read_shape",
    "shape_of",
    "stored_shape",
    "to_degrees",
]
