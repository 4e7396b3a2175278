"""Checks a geometry without storing it: every problem, and its position."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.api.expensive import expensive_work
from app.geometry import Boundary, GeometryInvalid, Problem, read_boundary
from app.geometry.antimeridian import split_at_antimeridian
from app.geometry.warnings import boundary_warnings

Shown = list[dict[str, Any]]


def geometry_report(value: object) -> tuple[dict[str, Any], Boundary | None]:
    """``{valid, area_hectares, problems, warnings}``, both of
    ``[{code, message, part, ring, position, coordinates}]``, and the boundary of a valid geometry.

    Args:
        value: parsed JSON, meant as a GeoJSON Polygon or MultiPolygon.
    """
    try:
        boundary = read_boundary(value, expensive=expensive_work)
    except GeometryInvalid as error:
        problems = list(map(shown_problem, error.problems))
        if (fix := _fix(value, error.problems)) is not None:
            problems[0]["fix"] = fix
        return _report(None, problems, []), None
    warnings = boundary_warnings(boundary, expensive=expensive_work)
    return _report(boundary, [], list(map(shown_problem, warnings))), boundary


def _report(boundary: Boundary | None, problems: Shown, warnings: Shown) -> dict[str, Any]:
    return {
        "valid": boundary is not None,
        "area_hectares": None if boundary is None else boundary.area_m2 / 10_000,
        "problems": problems,
        "warnings": warnings,
    }


def shown_problem(problem: Problem) -> dict[str, Any]:
    """A problem or warning as reports have it: without its field."""
    shown = asdict(problem)
    del shown["field"]
    return shown


def _fix(value: Any, problems: list[Problem]) -> dict[str, Any] | None:
    """The geometry split at the antimeridian, if edges across it are all that is wrong."""
    if any(problem.code != "antimeridian" for problem in problems):
        return None
    with expensive_work():
        return split_at_antimeridian(value)
