"""GeoJSON as the Information System of Regulation (EU) 2023/1115 (EUDR) reads it.

From the Commission's "EUDR GeoJSON File Description", of which guides to versions 1.4 and 1.5 say:

* WGS 84, longitude first. The system has six decimals; so they are rounded here, and written with
  their zeros.
* one Feature for each plot, so a MultiPolygon becomes several;
* the properties ProducerName, ProducerCountry (ISO 3166-1 alpha-2), ProductionPlace and Area (in
  hectares), and no others. They come from the metadata, whatever the case of their names there;
* rings that do not cross themselves, and have no position twice in a row;
* no holes: the system counts them as part of the plot;
* at most 25 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import shapely

from app.formats.writers.features import Feature
from app.formats.writers.shapes import Ring, read_shape
from app.formats.writers.source import CannotWrite, FeatureSource
from app.formats.writers.temporary import new_file
from app.geometry import geodesic_area
from app.policy.files import EUDR_BYTES, EUDR_PROBLEMS
from app.values.strict_json import Fragment, dumps

_DECIMALS: Final = 6
_FEWEST: Final = 4  # positions of a ring
_NAME, _COUNTRY, _PLACE, _AREA = "ProducerName", "ProducerCountry", "ProductionPlace", "Area"
_SQUARE_METERS: Final = 10_000  # of a hectare
_TOO_LARGE: Final = (
    f"The file would be larger than the {EUDR_BYTES // 10**6} MB that the Information System takes."
    " Export fewer projects at a time: filter them by status, search, bbox or ids."
)
_INVALID: Final = "The Information System would not take these plots as they are. See details."
_NO_PLOTS: Final = "None of the projects has a boundary."
_HOLES: Final = (
    "Part {part} has holes, which the Information System takes for part of the plot. Split the part"
    " around them, or add holes=ignore to leave the holes out."
)
_ROUNDED: Final = (
    "Part {part} crosses itself or vanishes when its coordinates have six decimals. Its positions "
    "are too close to each other: remove some."
)


class EudrOptions(NamedTuple):
    """Properties of all plots, and whether holes may be left out."""

    producer_name: str | None = None
    producer_country: str | None = None
    ignore_holes: bool = False


NO_OPTIONS: Final = EudrOptions()


def write_eudr(source: FeatureSource, folder: Path, options: EudrOptions = NO_OPTIONS) -> IO[bytes]:
    """Write the file. Records without a geometry are left out.

    Args:
        folder: where it is written.

    Returns:
        The file, at its beginning.

    Raises:
        CannotWrite: it would be too large, none of the records has a geometry, or the system
            would not accept some of the plots.
        OSError: there is no room for it.
    """
    problems: list[tuple[str, str]] = []
    with new_file(folder) as file:
        file.write(b'{"type":"FeatureCollection","features":[\n')
        between, is_without_plots = b"", False
        for feature in source.features():
            rings = _exteriors(feature)
            is_without_plots = not (rings or between)
            found = _problems(feature, rings, options)
            problems += list(found)[: EUDR_PROBLEMS - len(problems)]
            for plot in [] if problems else _plots(feature, rings, options):
                file.write(between + plot)
                between = b",\n"
            if file.tell() > EUDR_BYTES:
                raise CannotWrite(_TOO_LARGE)
        if problems:
            raise CannotWrite(_INVALID, problems)
        if is_without_plots:
            raise CannotWrite(_NO_PLOTS)
        file.write(b"\n]}\n")
    return file


class _Exterior(NamedTuple):
    """The exterior ring of a part, unchanged and with six decimals. ``has_holes``: the part has
    holes."""

    ring: Ring
    rounded: Ring
    has_holes: bool


def _exteriors(feature: Feature) -> list[_Exterior]:
    """The exterior rings of all parts. Positions that are equal after rounding become one."""
    parts = [] if feature.geometry is None else read_shape(feature.geometry).parts
    return [_Exterior(part[0], _rounded(part[0]), len(part) > 1) for part in parts]


def _rounded(ring: Ring) -> Ring:
    positions = ([round(x, _DECIMALS), round(y, _DECIMALS)] for x, y, *_ in ring)
    return [position for position, _ in groupby(positions)]


def _problems(
    feature: Feature, exteriors: list[_Exterior], options: EudrOptions
) -> Iterator[tuple[str, str]]:
    """Yield (record id, message) for what the system would not accept, or would misread."""
    country = _own(feature).get(_COUNTRY, options.producer_country)
    if country is not None and not _is_country(country):
        yield feature.id, f"{_COUNTRY} must be two letters, as ISO 3166-1 alpha-2 has them."
    for number, (_, rounded, has_holes) in enumerate(exteriors):
        if has_holes and not options.ignore_holes:
            yield feature.id, _HOLES.format(part=number)
        if len(rounded) < _FEWEST or not shapely.is_valid(shapely.polygons(rounded)):
            yield feature.id, _ROUNDED.format(part=number)


def _plots(feature: Feature, exteriors: list[_Exterior], options: EudrOptions) -> Iterator[bytes]:
    """Yield the text of a Feature for each part."""
    own = _own(feature)
    country = own.get(_COUNTRY, options.producer_country)
    properties = {
        _NAME: own.get(_NAME, options.producer_name),
        _COUNTRY: country and country.upper(),
        _PLACE: own.get(_PLACE, feature.properties.get("name")),
    }
    known = {name: value for name, value in properties.items() if value is not None}
    for ring, rounded, _ in exteriors:
        hectares = round(geodesic_area([ring]) / _SQUARE_METERS, 4)
        area = own.get(_AREA, hectares) if len(exteriors) == 1 else hectares
        yield dumps(
            {
                "type": "Feature",
                "properties": known | {_AREA: area},
                "geometry": {"type": "Polygon", "coordinates": _text(rounded)},
            }
        )


def _text(ring: Ring) -> Fragment:
    """The coordinates of a Polygon without holes."""
    positions = ",".join(f"[{x:.{_DECIMALS}f},{y:.{_DECIMALS}f}]" for x, y in ring)
    return Fragment(f"[[{positions}]]")


def _own(feature: Feature) -> dict[str, Any]:
    """The properties of plots in the metadata, by the names of the system, if of the right type."""
    values = {name.lower(): value for name, value in feature.properties.items()}
    found = {name: values.get(name.lower()) for name in (_NAME, _COUNTRY, _PLACE, _AREA)}
    kinds = {_AREA: (int, float)}
    return {
        name: value
        for name, value in found.items()
        if type(value) in kinds.get(name, (str,)) and value != ""
    }


def _is_country(text: str) -> bool:
    return len(text) == 2 and text.isascii() and text.isalpha()
