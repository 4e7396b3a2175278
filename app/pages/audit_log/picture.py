"""A small picture of how a boundary changed.

Both boundaries are drawn, and masks cut one out of the other, so that no difference of polygons is
computed. An SVG in an <img> has no stylesheet, so its colors work on light and on dark.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from flask import render_template

from app.geometry import stored_rings
from app.geometry.shapes import map_shape
from app.site.svg_map import Outline, draw_svg_map

_PIXELS: Final = 512  # least length of the longer side
_FARTHEST_ZOOM: Final = 30
_WORLD: Final = 360  # degrees
_SMALLEST: Final = 1e-9  # degrees


def draw_difference(former: str | None, present: str | None) -> str | None:
    """Draw the difference of two boundaries.

    Args:
        former: the former boundary, as GeoJSON text.
        present: the present boundary.

    Returns:
        The text of an SVG; None if there is nothing to draw.
    """
    texts = [text for text in (former, present) if text]
    try:
        zoom = _zoom_of(texts)
        picture = draw_svg_map(Outline("", "", map_shape(text, zoom) or text) for text in texts)
    except (ValueError, TypeError, LookupError):  # written with SQL
        return None
    if picture is None:
        return None
    shapes = iter(picture.shapes)
    return render_template(
        "audit_log/difference.svg",
        width=picture.width,
        height=picture.height,
        former=next(shapes) if former else None,
        present=next(shapes) if present else None,
    )


def _zoom_of(texts: list[str]) -> int:
    """Return the zoom at which the longer side has ``_PIXELS``."""
    rings = [stored_rings(text) for text in texts]
    longitudes = np.concatenate([ring.lon for ring in rings])
    if np.ptp(longitudes) > _WORLD / 2:  # on both sides of the antimeridian
        longitudes %= _WORLD
    latitudes = np.concatenate([ring.lat for ring in rings])
    longer = max(float(np.ptp(longitudes)), float(np.ptp(latitudes)), _SMALLEST)
    return min(max(math.ceil(math.log2(_PIXELS / 256 * _WORLD / longer)), 0), _FARTHEST_ZOOM)
