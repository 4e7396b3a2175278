"""The deprecated parts of /v1, and their replacements.

A sunset is a promise, not a switch: no release removes a deprecated part before that day, which is
at least 12 months after the deprecation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True, slots=True)
class Deprecation:
    """An operation, or a parameter of a GET, or a field of the body of another operation."""

    operation: str  # such as ``PUT /v1/projects/{project_id}``; PUT includes PATCH
    name: str  # the parameter or field; empty: the whole operation
    what: str  # the deprecated part in words
    since: date
    sunset: date | None  # None until it is decided
    replacement: str  # what to do, in a sentence


DEPRECATIONS: Final = (
    Deprecation(
        "POST /v1/geometry/validate",
        "coordinates",
        "a geometry as the whole body",
        since=date(2026, 11, 22),
        sunset=None,  # it ends with the next version of the API
        replacement='Send an object with the geometry in it: `{"geometry": {…}}`.',
    ),
)

LEAST_MONTHS: Final = 12  # between a deprecation and its sunset
