"""Where the projects of an account are, and whether another place is likely beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyproj import Geod
from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.formats.crs_search import Position
from app.geometry import Bounds, middle_of_box
from app.geometry.countries import country_at
from app.geometry.countries.location import Country
from app.models import Project
from app.policy.countries import INSIDE_KM, UNEXPECTED_KM
from app.projects.boundaries.overlaps import projects_in_box

NEWEST: Final = 200
_FAR: Final = 10.0  # degrees from all projects of the account
NEAR: Final = 2.0  # degrees from one of them
_TURN: Final = 360.0  # degrees
_RIGHT_ANGLE: Final = 90.0
_WGS84: Final = Geod(ellps="WGS84")
_PLACES: Final = CompiledQuery(
    columns_of(Project, Project.west, Project.south, Project.east, Project.north)
    .where(Project.west.is_not(None))
    .order_by(Project.created_at.desc(), Project.id.desc())
    .limit(bindparam("most"))
)


def project_places(account_id: str, beside: Bounds | None = None) -> list[Position]:
    """The middles of the newest projects of an account, as (longitude, latitude).

    Args:
        beside: a box; where there are more projects, some of those near it are added.
    """
    rows = _PLACES.all(account_id=account_id, most=NEWEST)
    places = [middle_of_box(Bounds(*row)) for row in rows]
    if beside is None or len(places) < NEWEST:
        return places
    west, south, east, north = beside
    around = Bounds(west - NEAR, south - NEAR, east + NEAR, north + NEAR)
    found = projects_in_box(account_id, around, NEWEST)
    return places + [middle_of_box(Bounds(*row[4:])) for row in found]


def home_countries(near: Sequence[Position]) -> set[str | None]:
    """The countries that known places lie in."""
    return {country_at(*place) for place in near} - {None}


def degrees_from(near: Sequence[Position], x: float, y: float) -> float:
    """The degrees from a place to the nearest of others."""
    return min((max(_turned(x - east), abs(y - north)) for east, north in near), default=_TURN)


def _turned(degrees: float) -> float:
    return abs((degrees + _TURN / 2) % _TURN - _TURN / 2)


def is_home_swapped(near: Sequence[Position], x: float, y: float) -> bool:
    """True if a place is far from known ones or in none of their countries, but would not be with
    x and y swapped."""
    is_far = degrees_from(near, x, y) >= _FAR and degrees_from(near, y, x) <= NEAR
    home = home_countries(near)
    return is_far or (country_at(y, x) in home and country_at(x, y) not in home)


def kilometers_from(near: Sequence[Position], place: Position) -> float:
    """The kilometers from a place to the nearest of others, of which there is one."""
    lons, lats = zip(*near, strict=True)
    count = len(near)
    _, _, meters = _WGS84.inv([place[0]] * count, [place[1]] * count, lons, lats)
    return float(min(meters)) / 1000


def is_unexpected(near: Sequence[Position], place: Position, country: Country) -> bool:
    """True if none of an account's projects is in the country of a place, nor so close that a
    coarse border may be between them, or if all are farther than UNEXPECTED_KM. False for the
    first project."""
    if not near:
        return False
    km = kilometers_from(near, place)
    is_abroad = country is not False and country not in home_countries(near) and km > INSIDE_KM
    return is_abroad or km > UNEXPECTED_KM


def is_likelier_swapped(
    near: Sequence[Position], place: Position, country: Country, box: Bounds
) -> bool:
    """True if a boundary would lie among an account's projects, or on land where it does not now,
    with latitude and longitude swapped.

    Args:
        place: its middle.
        country: where it is.
        box: around it.
    """
    x, y = place
    if max(abs(box.west), abs(box.east)) > _RIGHT_ANGLE:
        return False
    return is_home_swapped(near, x, y) or (country is None and country_at(y, x) is not None)
