"""Places by name, and the town near a position, by GeoNames (CC BY 4.0).

* ``make``: writes the file of the towns, at set-up;
* ``towns``: reads it. Where set-up could not make it, no town is found.
"""

from app.gazetteer.towns import Town, has_towns, nearest_town, search_countries, search_towns

__all__ = ["Town", "has_towns", "nearest_town", "search_countries", "search_towns"]
