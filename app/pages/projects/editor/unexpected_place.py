"""The question whether a new boundary is where it should be."""

from __future__ import annotations

from app.formats.crs_search import Position
from app.geometry import Boundary
from app.geometry.countries import country_phrase
from app.pages.where import where_it_lies
from app.projects.places import (
    NEWEST,
    home_countries,
    is_likelier_swapped,
    is_unexpected,
    project_places,
)


def place_question(
    account_id: str, boundary: Boundary, place: Position
) -> dict[str, str | None] | None:
    """Ask about a boundary that lies where no project of the account is, or that would lie among
    them with latitude and longitude swapped. None if there is nothing to ask.

    Returns ``message``, and in ``swapped`` where it would lie so, if that is likelier.

    Args:
        place: the middle of the boundary.
    """
    near = project_places(account_id, boundary.bounds)
    country = boundary.country
    is_swapped = is_likelier_swapped(near, place, country, boundary.bounds)
    if not is_swapped and not is_unexpected(near, place, country):
        return None
    latest = "latest " if len(near) >= NEWEST else ""
    if country is None:
        message = "This boundary is in no country."
    elif country is not False and country not in home_countries(near):
        message = f"None of your {latest}projects is in {country_phrase(country)}."
    else:
        message = f"All your {latest}projects are far from here."
    there = where_it_lies(*place[::-1])
    swapped = f"With latitude and longitude swapped, it would lie {there[0].lower()}{there[1:]}."
    return {
        "message": f"{message} Is this the right place?",
        "swapped": swapped if is_swapped else None,
    }
