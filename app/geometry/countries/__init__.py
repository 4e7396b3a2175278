"""The country that a boundary lies in, and land near it, by Natural Earth (1:50 million).

* ``natural_earth``: the countries, cut into pieces; ``None`` where set-up could not install them;
* ``samples``: points within the parts of a boundary;
* ``location``: the country of a boundary;
* ``parts``: what of it lies in the sea or in another country.
"""

from app.geometry.countries.location import (
    country_at,
    country_box,
    country_name,
    country_of,
    country_of_box,
    country_phrase,
)
from app.geometry.countries.natural_earth import has_world, load_world

__all__ = [
    "country_at",
    "country_box",
    "country_name",
    "country_of",
    "country_of_box",
    "country_phrase",
    "has_world",
    "load_world",
]
