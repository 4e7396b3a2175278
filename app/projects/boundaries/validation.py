"""Checks a geometry without storing it: every problem, and its position."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.api.expensive import expensive_work
from app.geometry import Boundary, GeometryInvalid, Problem, read_boundary
from app.geometry.antimeridian import split_there


def geometry_report(value: object) -> tuple[dict[str, Any], Boundary | None]:
    """``{valid, area_hectares, problems: [{code, message, part, ring, position, coordinates}]}``,
    and the boundary of a valid geometry.

    Args:
        value: parsed JSON, meant as a GeoJSON Polygon or MultiPolygon.
    """
    try:
        boundary = read_boundary(value, expensive=expensive_work)
    except GeometryInvalid as error:
        problems = [asdict(problem) for problem in error.problems]
        for problem in problems:
            del problem["field"]
        if (fix := _fix(value, error.problems)) is not None:
            problems[0]["fix"] = fix
        return {"valid": False, "area_hectares": None, "problems": problems}, None
    area = boundary.area_m2 / 10_000
    return {"valid": True, "area_hectares": area, "problems": []}, boundary


def _fix(value: Any, problems: list[Problem]) -> dict[str, Any] | None:
    """The geometry split at the antimeridian, if edges across it are all that is wrong."""
    if any(problem.code != "antimeridian" for problem in problems):
        return None
    with expensive_work():
        return split_there(value)
