"""Operations on valid boundaries. No I/O.

* ``overlay``: the area that two boundaries have in common, and by how much they differ;
* ``query_shapes``: the box or geometry of a query, and what intersects it;
* ``crs``: the coordinate systems of maps;
* ``simplify``: shapes of fewer positions, for maps.
"""

from __future__ import annotations

from app.geometry.shapes.crs import (
    CRS84,
    SYSTEMS,
    Crs,
    from_degrees,
    to_degrees,
)
from app.geometry.shapes.overlay import (
    UNKNOWN,
    AreaDifference,
    Shape,
    area_difference,
    common_area,
    shape_of,
    stored_shape,
)
from app.geometry.shapes.query_shapes import QueryShape, ShapeInvalid, read_box, read_shape
from app.geometry.shapes.simplify import (
    is_shown_whole,
    level_of,
    levels_of,
    map_shape,
    map_shapes,
    pixels,
    point_shape,
)

__all__ = [
    "CRS84",
    "SYSTEMS",
    "UNKNOWN",
    "AreaDifference",
    "Crs",
    "QueryShape",
    "Shape",
    "ShapeInvalid",
    "area_difference",
    "common_area",
    "from_degrees",
    "is_shown_whole",
    "level_of",
    "levels_of",
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
