"""The maps of others that an operator can turn on as backgrounds, by name."""

from __future__ import annotations

from typing import Final, NamedTuple


class Preset(NamedTuple):
    """A background of somebody else.

    Attributes:
        entry: where ``xyzservices`` has its address, its zooms and its attribution.
        owner: whose server it is, which learns who looks at which place.
        terms: what its owner asks for, in two sentences.
        tracing: whether its owner lets people draw after it and keep what they have drawn.
        sample: the tile that the operator's page shows: zoom, column, row.
    """

    title: str
    entry: str
    owner: str
    terms: str
    tracing: str
    sample: tuple[int, int, int]


PRESETS: Final = {
    "osm": Preset(
        "OpenStreetMap",
        "OpenStreetMap.Mapnik",
        "the OpenStreetMap Foundation",
        "Free for looking at, without a promise that it always works; nobody may download it in "
        "bulk or for offline use. Its attribution must be visible.",
        "allowed; larger parts fall under the license of its data, the ODbL",
        (12, 2308, 1466),
    ),
    "opentopomap": Preset(
        "OpenTopoMap",
        "OpenTopoMap",
        "the project OpenTopoMap",
        "A topographic map by volunteers under CC BY-SA, whose servers are small and promise "
        "nothing. Its attribution must be visible.",
        "not said",
        (12, 2308, 1466),
    ),
    "esri-imagery": Preset(
        "Satellite and aerial imagery (Esri)",
        "Esri.WorldImagery",
        "Esri",
        "Esri asks for an account, and lets use without revenue and below a million tiles a month "
        "be free. Its name and the sources must be visible: read its terms before you turn it on.",
        "allowed",
        (13, 4278, 2852),
    ),
    "usgs-imagery": Preset(
        "Aerial imagery of the USA (USGS)",
        "USGS.USImagery",
        "the U.S. Geological Survey",
        "In the public domain and free for every use. The Survey asks to be named as the source.",
        "allowed",
        (13, 1319, 2978),
    ),
    "ign-orthos": Preset(
        "Aerial imagery of France (IGN)",
        "GeoportailFrance.orthos",
        "the French IGN",
        "Free for every use under the open license Etalab 2.0. The source must be named.",
        "allowed",
        (13, 4156, 2833),
    ),
    "swissimage": Preset(
        "Aerial imagery of Switzerland (swisstopo)",
        "SwissFederalGeoportal.SWISSIMAGE",
        "the Swiss swisstopo",
        "Free for every use, as long as few requests are sent. The source must be named.",
        "allowed",
        (13, 4278, 2892),
    ),
    "gibs-relief": Preset(
        "Shaded relief (NASA)",
        "NASAGIBS.ASTER_GDEM_Greyscale_Shaded_Relief",
        "NASA",
        "Free and open. NASA asks for the acknowledgment that the map shows.",
        "not said",
        (9, 267, 180),
    ),
}
