"""Checks a geometry without storing it: every problem, and its position."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.api.expensive import expensive_work
from app.geometry import GeometryInvalid, read_boundary


def geometry_report(value: object) -> dict[str, Any]:
    """``{valid, area_hectares, problems: [{code, message, part, ring, position, coordinates}]}``.

    Args:
        value: parsed JSON, meant as a GeoJSON Polygon or MultiPolygon.
    """
    try:
        boundary = read_boundary(value, expensive=expensive_work)
    except GeometryInvalid as error:
        problems = [asdict(problem) for problem in error.problems]
        for problem in problems:
            del problem["field"]
        return {"valid": False, "area_hectares": None, "problems": problems}
    return {"valid": True, "area_hectares": boundary.area_m2 / 10_000, "problems": []}
