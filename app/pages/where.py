"""Where on Earth a place is, in words."""

from __future__ import annotations

from typing import Final

from app.gazetteer import Town, nearest_town
from app.geometry.countries import country_at, country_phrase, has_world
from app.geometry.countries.location import Country
from app.site import formats

_NEAR_KM: Final = 5


def where_it_lies(longitude: float, latitude: float, country: Country = None) -> str:
    """Such as "In Romania, near Albac, 46.4533° N 22.9657° E".

    Args:
        country: that of the boundary around it; unless it has one, that of the place is named.
    """
    code = country or country_at(longitude, latitude)
    town = nearest_town(longitude, latitude)
    words = [formats.degrees(latitude, longitude)]
    if town:
        words.insert(0, _beside(town, code))
    if code:
        words.insert(0, f"in {country_phrase(code)}")
    elif has_world() and not (town and town.kilometers < _NEAR_KM):
        words.insert(0, "in the sea, or on an island that the map lacks")
    sentence = ", ".join(words)
    return sentence[0].upper() + sentence[1:]


def _beside(town: Town, country: str | None) -> str:
    is_abroad = town.country != country
    name = f"{town.name} in {country_phrase(town.country)}" if is_abroad else town.name
    if town.kilometers < _NEAR_KM:
        return f"near {name}"
    return f"{formats.number(town.kilometers)} km from {name}"
