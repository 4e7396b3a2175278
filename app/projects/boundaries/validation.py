"""Checking a geometry without storing it: every problem with its position."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.api.expensive import expensive_work
from app.geometry import Boundary, GeometryInvalid, Problem, read_boundary
from app.geometry.antimeridian import split_at_antimeridian
from app.geometry.warnings import boundary_warnings

Records = list[dict[str, Any]]


def geometry_report(value: object) -> tuple[dict[str, Any], Boundary | None]:
    """Return (``{valid, area_hectares, problems, warnings}``, boundary of a valid geometry).

    Problems and warnings are ``[{code, message, part, ring, position, coordinates}]``.

    Args:
        value: parsed JSON that should be a GeoJSON Polygon or MultiPolygon.
    """
    try:
        boundary = read_boundary(value, expensive=expensive_work)
    except GeometryInvalid as error:
        problems = list(map(shown_problem, error.problems))
        if (fix := _antimeridian_fix(value, error.problems)) is not None:
            problems[0]["fix"] = fix
        return _validation_report(None, problems, []), None
    warnings = boundary_warnings(boundary, expensive=expensive_work)
    return _validation_report(boundary, [], list(map(shown_problem, warnings))), boundary


def _validation_report(
    boundary: Boundary | None, problems: Records, warnings: Records
) -> dict[str, Any]:
    return {
        "valid": boundary is not None,
        "area_hectares": None if boundary is None else boundary.area_m2 / 10_000,
        "problems": problems,
        "warnings": warnings,
    }


def shown_problem(problem: Problem) -> dict[str, Any]:
    """The record of a problem or warning, without its field."""
    record = asdict(problem)
    del record["field"]
    return record


def _antimeridian_fix(value: Any, problems: list[Problem]) -> dict[str, Any] | None:
    """The geometry split at the antimeridian, if edges across it are the only problems."""
    if any(problem.code != "antimeridian" for problem in problems):
        return None
    with expensive_work():
        return split_at_antimeridian(value)
