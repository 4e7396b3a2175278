"""A small picture of how a boundary changed.

Both boundaries are drawn, and masks cut one out of the other, so that no difference of polygons is
computed. An SVG in an <img> has no stylesheet, so its colors work on light and on dark.
"""

from __future__ import annotations

from flask import render_template

from app.site.svg_map import Outline, draw_svg_map


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
        picture = draw_svg_map(Outline("", "", text) for text in texts)
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
