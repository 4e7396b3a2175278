"""Well-known text (OGC 06-103r4, section 7)."""

from __future__ import annotations

from typing import Final

from app.formats.writers.shapes import Ring, positions_text, read_shape
from app.values.strict_json import Fragment

_NAMES: Final = {"Point": "POINT", "Polygon": "POLYGON", "MultiPolygon": "MULTIPOLYGON"}


def write_wkt(geometry: Fragment) -> str:
    """A stored geometry as WKT, every coordinate with all its digits."""
    shape = read_shape(geometry)
    name = _NAMES[shape.type] + (" Z" if shape.has_heights else "")
    if shape.type == "Point":
        return f"{name} {_ring([shape.position])}"
    parts = ", ".join(f"({', '.join(map(_ring, part))})" for part in shape.parts)
    return f"{name} ({parts})" if shape.type == "MultiPolygon" else f"{name} {parts}"


def _ring(ring: Ring) -> str:
    return f"({positions_text(ring).replace(',', ' ').replace('] [', ', ')})"
