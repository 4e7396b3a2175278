"""A small picture of how a boundary changed.

Both boundaries are drawn, and masks cut one out of the other: nothing is computed but fewer
positions. An SVG in an <img> has no stylesheet, so it has colors of its own, which can be told
apart on light and on dark.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from flask import render_template

from app.geometry import stored_rings
from app.geometry.shapes import map_shape
from app.site.svg_map import Outline, draw

_PIXELS: Final = 512  # of the longer side of what is drawn, at least
_FARTHEST_ZOOM: Final = 30
_WORLD: Final = 360  # degrees
_SMALLEST: Final = 1e-9  # degrees


def picture(former: str | None, present: str | None) -> str | None:
    """The text of an SVG; None if there is nothing to draw.

    Args:
        former: the boundary before, as GeoJSON text.
        present: that after it.
    """
    texts = [text for text in (former, present) if text]
    try:
        zoom = _zoom_of(texts)
        drawn = draw(Outline("", "", map_shape(text, zoom) or text) for text in texts)
    except (ValueError, TypeError, LookupError):  # written with SQL
        return None
    if drawn is None:
        return None
    shapes = iter(drawn.shapes)
    return render_template(
        "audit_log/difference.svg",
        width=drawn.width,
        height=drawn.height,
        former=next(shapes) if former else None,
        present=next(shapes) if present else None,
    )


def _zoom_of(texts: list[str]) -> int:
    """The zoom at which all that is drawn has ``_PIXELS``."""
    rings = [stored_rings(text) for text in texts]
    longitudes = np.concatenate([each.lon for each in rings])
    if np.ptp(longitudes) > _WORLD / 2:  # on both sides of the antimeridian
        longitudes %= _WORLD
    latitudes = np.concatenate([each.lat for each in rings])
    longer = max(float(np.ptp(longitudes)), float(np.ptp(latitudes)), _SMALLEST)
    return min(max(math.ceil(math.log2(_PIXELS / 256 * _WORLD / longer)), 0), _FARTHEST_ZOOM)
