"""The formats of dates and times that people can choose."""

from __future__ import annotations

from typing import Final

# Keyed by the stored names. js/times.js fills in the same fields.
DATE_FORMATS: Final[dict[str, str]] = {
    "iso": "{year}-{month}-{day}, {hour}:{minute}",
    "dots": "{day}.{month}.{year}, {hour}:{minute}",
    "slashes": "{day}/{month}/{year}, {hour}:{minute}",
    "slashes_12": "{day}/{month}/{year}, {hour12}:{minute} {half}",
    "us": "{month}/{day}/{year}, {hour12}:{minute} {half}",
    "us_24": "{month}/{day}/{year}, {hour}:{minute}",
}

# Regions that zones are named and grouped by. Zones with other names are outdated.
ZONE_REGIONS: Final = (
    *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe"),
    *("Indian", "Pacific"),
)
