"""Well-known text (OGC 06-103r4, section 7)."""

from __future__ import annotations

from typing import Final

from app.formats.writers.shapes import Part, Position, Ring, Shape, read_shape
from app.values.strict_json import Fragment

_NAMES: Final = {"Point": "POINT", "Polygon": "POLYGON", "MultiPolygon": "MULTIPOLYGON"}


def write_wkt(geometry: Fragment) -> str:
    """A stored geometry as WKT, every coordinate with all its digits."""
    shape = read_shape(geometry)
    name = _NAMES[shape.type] + (" Z" if shape.has_heights else "")
    return f"{name} {_text(shape)}"


def _text(shape: Shape) -> str:
    size = 3 if shape.has_heights else 2
    if shape.type == "Point":
        return f"({_position(shape.position, size)})"
    parts = [_part(part, size) for part in shape.parts]
    return f"({', '.join(parts)})" if shape.type == "MultiPolygon" else parts[0]


def _part(part: Part, size: int) -> str:
    return f"({', '.join(_ring(ring, size) for ring in part)})"


def _ring(ring: Ring, size: int) -> str:
    return f"({', '.join(_position(position, size) for position in ring)})"


def _position(position: Position, size: int) -> str:
    return " ".join(map(repr, position[:size]))
