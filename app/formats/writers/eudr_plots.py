"""Plots of a file for the EUDR: what is written of a record, and what stands against it.

Positions are whole millionths of a degree. The system cuts off what is beyond six decimals. As it
may do so in binary floating point, where 4.000009 can be a little less, a position may lose a
millionth there. So a plot has to be valid as it is written, and after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import shapely
from numpy.typing import NDArray

from app.formats.writers.features import Feature
from app.formats.writers.source import Finding
from app.geometry import geodesic_area, stored_rings, timed
from app.geometry.complexity import SMALL, is_cheap_to_validate
from app.geometry.countries import country_at, country_name
from app.geometry.holes import split_holes
from app.geometry.polygons import polygon_rings
from app.geometry.rings import Rings
from app.policy.countries import COUNTRY_CODES, MISTAKEN_CODES
from app.policy.eudr import (
    AREA,
    AREA_TOLERANCE,
    COUNTRY,
    DECIMALS,
    NAME,
    NAME_LENGTH,
    PLACE,
    POINT_HECTARES,
    SMALLEST_HECTARES,
)
from app.policy.request_limits import VALIDATION_SECONDS
from app.values import processor_clock
from app.values.ids import is_id
from app.values.strict_json import Fragment, dumps
from app.values.text import pluralize

_UNITS: Final = 10**DECIMALS  # in a degree
_FEWEST: Final = 4  # positions of a ring
_SQUARE_METERS: Final = 10_000  # of a hectare
_TOGETHER: Final = 100  # records whose plots are checked at once, and how many positions
_POSITIONS: Final = 100_000

Grid = NDArray[np.int64]  # positions in millionths of a degree, of shape (n, 2)


class EudrOptions(NamedTuple):
    """What a file for the EUDR is to be.

    Args:
        producer_name, producer_country: of plots whose metadata has none.
        holes: what becomes of holes: ``split``, ``ignore`` or ``refuse``.
        variant: 1: a file for one producer; 2: for several.
        divide: write several files, if one would be too large.
        cattle: points may have more than 4 hectares.
    """

    producer_name: str | None = None
    producer_country: str | None = None
    holes: str = "split"
    variant: int = 1
    divide: bool = False
    cattle: bool = False


class Plot(NamedTuple):
    """A feature of the file. ``outline``: its ring, or the position of a point."""

    producer: str
    country: str
    place: str
    is_point: bool
    id: str
    part: int
    text: bytes
    outline: Grid


class Reading(NamedTuple):
    """The plots of a record, and what was found."""

    feature: Feature
    plots: list[Plot]
    problems: list[Finding]
    warnings: list[Finding]


def read_plots(features: Iterable[Feature], options: EudrOptions) -> Iterator[Reading]:
    """Yield what becomes of each record. Plots with problems have texts, too, for their sizes.
    As for a batch of records, the request may take its time for each of them."""
    drafts: list[_Draft] = []
    positions = 0
    for feature in features:
        drafts.append(_Draft(feature, options))
        positions += sum(map(len, drafts[-1].outlines))
        if len(drafts) == _TOGETHER or positions >= _POSITIONS:
            yield from _readings(drafts)
            drafts, positions = [], 0
        processor_clock.restart()
    yield from _readings(drafts)


def _readings(drafts: list[_Draft]) -> Iterator[Reading]:
    is_valid = iter(_are_valid([ring for draft in drafts for ring in draft.rings]))
    for draft in drafts:
        yield draft.reading([next(is_valid) for _ in draft.rings])


class _Draft:
    """What is known of a record before its outlines are checked."""

    def __init__(self, feature: Feature, options: EudrOptions) -> None:
        self._feature, self._options = feature, options
        self._own = _own(feature)
        self._is_asset = is_id("asset", feature.id)
        self.problems: list[Finding] = []
        self.warnings: list[Finding] = []
        self._check_texts()
        self._hectares: list[float] = []  # of the outlines
        self.outlines = self._read_outlines()

    @property
    def rings(self) -> list[Grid]:
        """The outlines that have to be valid."""
        return [] if self._is_asset else self.outlines

    def reading(self, is_valid: list[bool]) -> Reading:
        """The plots.

        Args:
            is_valid: whether each of ``rings`` is.
        """
        if not all(is_valid):
            self._problem("breaks_at_six_decimals", self._broken(is_valid))
        self._check_area()
        return Reading(self._feature, list(self._plots()), self.problems, self.warnings)

    def _problem(self, code: str, message: str) -> None:
        self.problems.append(self._finding(code, message))

    def _warn(self, code: str, message: str) -> None:
        self.warnings.append(self._finding(code, message))

    def _finding(self, code: str, message: str) -> Finding:
        return finding(self._feature, code, message)

    def _check_texts(self) -> None:
        options = self._options
        self._name = self._own.get(NAME, options.producer_name)
        country = self._own.get(COUNTRY, options.producer_country)
        self._country = None if country is None else country.upper()
        self._place = self._own.get(PLACE) or str(self._feature.properties["name"])
        if self._name is None:
            self._warn("producer_missing", f"Set {NAME}, or add producer_name.")
        if country is None:
            message = f"Set {COUNTRY}, or add producer_country."
            (self._problem if options.variant == 2 else self._warn)("country_missing", message)
        elif self._country not in COUNTRY_CODES:
            self._problem("country_invalid", country_error(country))
        elif (there := country_of_plot(self._feature)) not in (None, self._country):
            message = f"{COUNTRY} is {self._country}, and the plot lies in {country_name(there)}."
            self._warn("country_differs", message)
        for what, text in ((NAME, self._name), (PLACE, self._place)):
            if text and len(text) > NAME_LENGTH:
                message = f"Shorten {what} to {NAME_LENGTH} characters; it has {len(text):,}."
                self._problem("too_long", message)
        if PLACE not in self._own:
            self._warn("place_missing", f"The name stands for it. Set {PLACE} for another one.")

    def _read_outlines(self) -> list[Grid]:
        geometry = self._feature.geometry
        if geometry is None:
            missing = "location of the plot" if self._is_asset else "boundary of the project"
            self._problem("no_place", f"Set the {missing}, or leave it out of the file.")
            return []
        if self._is_asset:
            return [np.rint(np.array([_position(geometry)]) * _UNITS).astype(np.int64)]
        rings = stored_rings(dumps(geometry).decode())
        found: list[Grid] = []
        for first, last in zip(rings.part_starts, rings.part_starts[1:], strict=False):
            found += self._part(rings, first, last)
        return found

    def _part(self, rings: Rings, first: int, last: int) -> list[Grid]:
        """The outlines of a part of the boundary."""
        outline = _on_grid(rings, first)
        if last == first + 1 or self._options.holes == "ignore":
            return [outline]
        if self._options.holes == "refuse":
            message = (
                "The boundary has holes, which the system counts as part of the plot. Add "
                "holes=split to cut the plot in parts around them, or holes=ignore to fill them."
            )
            if not any(each.code == "hole" for each in self.problems):
                self._problem("hole", message)
            return [outline]
        holes = [
            hole for ring in range(first + 1, last) if _has_area(hole := _on_grid(rings, ring))
        ]
        if not _has_area(outline) or not holes:
            return [outline]
        polygon = shapely.Polygon(outline.astype(float), [hole.astype(float) for hole in holes])
        if not _is_valid(polygon):
            self._problem(
                "breaks_at_six_decimals",
                "A hole crosses another ring, or the outline, at six decimals. Move its positions "
                "apart.",
            )
            return [outline]
        parts = split_holes(polygon, VALIDATION_SECONDS)
        if parts is None:
            self._problem(
                "hole",
                f"The plot cannot be cut in parts around its {pluralize(len(holes), 'hole')}: "
                "there are too many, or they touch. Add holes=ignore to fill them, or draw the "
                "plot as several.",
            )
            return [outline]
        return [_without_repeats(shapely.get_coordinates(part).astype(np.int64)) for part in parts]

    def _broken(self, is_valid: list[bool]) -> str:
        one = len(is_valid) == 1
        which = "The plot" if one else f"Part {1 + is_valid.index(False)} of the plot"
        return (
            f"{which} crosses or touches itself, or vanishes, when its positions have six "
            "decimals. They are too close to each other: remove some, or move them apart."
        )

    def _check_area(self) -> None:
        """Settle what is written as ``Area``, and compare it with what is measured."""
        self._hectares = [] if self._is_asset else [_hectares(each) for each in self.outlines]
        if AREA not in self._own:
            return
        area = self._own.pop(AREA)
        if type(area) not in (int, float):
            number = _number(area) if self._is_asset else None
            without = POINT_HECTARES if self._is_asset else round(self._total(), 4)
            written = _decimal(without if number is None else number)
            self._warn(
                "area_text",
                f"{AREA} is {_shown(area)}, which is no number. The file has {written}.",
            )
            if number is None:
                return
            area = number
        self._own[AREA] = area
        if self._is_asset:
            self._check_area_of_point(area)
        elif area <= 0:
            self._problem(
                "area_invalid", f"{AREA} is {_decimal(area)} hectares. Correct it, or remove it."
            )
        elif abs(area - self._total()) > AREA_TOLERANCE * self._total() > 0:
            measured = f"the boundary has {self._total():.4f}"
            self._warn("area_differs", f"{AREA} is {_decimal(area)} hectares, and {measured}.")

    def _check_area_of_point(self, area: float) -> None:
        said = f"{AREA} is {_decimal(area)} hectares."
        if area < SMALLEST_HECTARES:
            message = f"{said} A point has {SMALLEST_HECTARES:.4f} at least."
            self._problem("area_invalid", message)
        elif area > POINT_HECTARES and not self._options.cattle:
            self._problem(
                "point_over_4_ha",
                f"{said} A point has {POINT_HECTARES:g} at most, but for cattle. Draw the boundary "
                "of the plot as a project.",
            )

    def _total(self) -> float:
        return sum(self._hectares)

    def _plots(self) -> Iterator[Plot]:
        """Yield a plot for each outline."""
        known = {NAME: self._name, COUNTRY: self._country, PLACE: self._place}
        texts = {name: text for name, text in known.items() if text is not None}
        key = (self._name or "", self._country or "", self._place)
        for part, outline in enumerate(self.outlines):
            if self._is_asset:
                area = self._own.get(AREA, POINT_HECTARES)
                geometry = Fragment(f'{{"type":"Point","coordinates":{_text(outline)}}}')
            else:
                area = max(round(self._hectares[part], 4), SMALLEST_HECTARES)
                area = self._own.get(AREA, area) if len(self.outlines) == 1 else area
                geometry = Fragment(f'{{"type":"Polygon","coordinates":[[{_text(outline)}]]}}')
            feature = {
                "type": "Feature",
                "properties": texts | {AREA: area},
                "geometry": geometry,
            }
            yield Plot(*key, self._is_asset, self._feature.id, part, dumps(feature), outline)


def finding(feature: Feature, code: str, message: str) -> Finding:
    """What was found at a record."""
    properties = feature.properties
    is_asset = is_id("asset", feature.id)
    return Finding(
        code,
        message,
        properties["project_id"] if is_asset else feature.id,
        feature.id if is_asset else None,
        properties["name"],
    )


def country_of_plot(feature: Feature) -> str | None:
    """The country that a plot lies in."""
    if not is_id("asset", feature.id):
        country: str | None = feature.properties["country"]
        return country
    return None if feature.geometry is None else country_at(*_position(feature.geometry))


def country_error(text: str) -> str:
    """Why a text is no code of a country that the system takes."""
    if (right := MISTAKEN_CODES.get(text.upper())) is not None:
        return f"{text} is no code of ISO 3166-1. The code of {right[1]} is {right[0]}."
    return f"{_shown(text)} is no country. Set {COUNTRY} to two letters of ISO 3166-1, such as GH."


def degrees(grid: Any) -> Any:
    """Positions in degrees."""
    return grid / _UNITS


def cut_off(grid: Grid) -> NDArray[np.float64]:
    """Positions as the system may read them, in millionths of a degree."""
    return np.trunc(grid / _UNITS * _UNITS)


def _own(feature: Feature) -> dict[str, Any]:
    """The properties of plots in the metadata, by the names of the system. A name in another case
    counts where there is none in the right one."""
    properties = feature.properties
    names = {name.lower(): name for name in properties}
    names |= {name.lower(): name for name in (NAME, COUNTRY, PLACE, AREA) if name in properties}
    found: dict[str, Any] = {}
    for name in (NAME, COUNTRY, PLACE, AREA):
        value = properties.get(names.get(name.lower(), name))
        value = value.strip() if isinstance(value, str) else value
        if value not in (None, "") and (name == AREA or isinstance(value, str)):
            found[name] = value
    return found


def _position(point: Any) -> list[float]:
    """Longitude and latitude of a point as it is stored."""
    found: list[float] = orjson.loads(dumps(point))["coordinates"][:2]
    return found


def _on_grid(rings: Rings, ring: int) -> Grid:
    """A ring of a boundary."""
    span = rings.span(ring)
    positions = np.column_stack((rings.lon[span], rings.lat[span]))
    return _without_repeats(np.rint(positions * _UNITS).astype(np.int64))


def _without_repeats(ring: Grid) -> Grid:
    """A ring whose positions in a row differ, also once they are cut off."""
    is_new = np.any(np.diff(cut_off(ring), axis=0) != 0, axis=1)
    ring = ring[np.concatenate(([True], is_new))]
    ring[-1] = ring[0]
    return ring


def _has_area(ring: Grid) -> bool:
    return len(ring) >= _FEWEST


def _are_valid(rings: list[Grid]) -> list[bool]:
    """Return whether each ring is valid as it is written, and after it was cut off."""
    found = [_has_area(ring) for ring in rings]
    left = [index for index, has_area in enumerate(found) if has_area]
    if not left:
        return found
    sizes = [len(rings[index]) for index in left]
    written = np.concatenate([rings[index] for index in left])
    of_position = np.repeat(np.arange(len(left)), sizes)
    for positions in (written, cut_off(written)):
        lines = shapely.linearrings(positions.astype(float), indices=of_position)
        for index, is_valid in zip(left, _check(shapely.polygons(lines), sizes), strict=True):
            found[index] = found[index] and bool(is_valid)
    return found


def _check(polygons: Any, sizes: list[int]) -> Any:
    """Return whether polygons are valid.

    Args:
        sizes: how many positions each has.
    """
    if max(sizes) <= SMALL:
        return shapely.is_valid(polygons)
    return [_is_valid(polygon) for polygon in polygons]


def _is_valid(polygon: Any) -> bool:
    if is_cheap_to_validate(polygon_rings(polygon)):
        return bool(shapely.is_valid(polygon))
    return bool(timed.is_valid(polygon, VALIDATION_SECONDS)[0])


def _hectares(ring: Grid) -> float:
    return geodesic_area([(ring / _UNITS).tolist()]) / _SQUARE_METERS


def _number(value: object) -> float | None:
    """The number that a text is."""
    try:
        number = float(str(value).replace(",", "."))
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _decimal(number: float) -> str:
    """A number without an exponent: 0.00009."""
    return np.format_float_positional(number, trim="-")


def _shown(value: object) -> str:
    text = dumps(value).decode()
    return text if len(text) <= 40 else f"{text[:39]}…"


def _text(grid: Grid) -> str:
    """Positions as GeoJSON, with all decimals."""
    flat = chain.from_iterable((grid / _UNITS + 0.0).tolist())
    return ",".join(["[%.6f,%.6f]"] * len(grid)) % tuple(flat)
