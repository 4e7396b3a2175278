"""What of /v1 is deprecated, and what to use instead.

A sunset is a promise and no switch: what is deprecated works until a release leaves it out, and no
release does before that day. It is at least 12 months after the deprecation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True, slots=True)
class Deprecation:
    """An operation, or a parameter of a GET, or a field of the body of another operation."""

    operation: str  # as the description has it; PUT also means PATCH
    name: str  # of the parameter or field; empty: the whole operation
    what: str  # in words
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
