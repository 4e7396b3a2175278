"""How people may have dates and times written."""

from __future__ import annotations

from typing import Final

# By the name under which a person's choice is stored. js/times.js fills in the same names.
DATE_FORMATS: Final[dict[str, str]] = {
    "iso": "{year}-{month}-{day}, {hour}:{minute}",
    "dots": "{day}.{month}.{year}, {hour}:{minute}",
    "slashes": "{day}/{month}/{year}, {hour}:{minute}",
    "slashes_12": "{day}/{month}/{year}, {hour12}:{minute} {half}",
    "us": "{month}/{day}/{year}, {hour12}:{minute} {half}",
    "us_24": "{month}/{day}/{year}, {hour}:{minute}",
}

# Parts of the world by which zones are named and grouped. Other names of zones are former ones.
ZONE_REGIONS: Final = (
    *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe"),
    *("Indian", "Pacific"),
)
