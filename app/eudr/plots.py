"""The plots of records in a file for the EUDR, with their problems and warnings. ``checking`` calls
this in another process, as some boundaries take long."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import shapely

from app.eudr.grid import (
    Grid,
    are_valid,
    grid_hectares,
    grid_of_points,
    grid_text,
    has_area,
    has_more_decimals,
    linear_rings,
    without_repeats,
)
from app.formats.writers.delimited import csv_line
from app.formats.writers.features import ASSETS, PROJECTS, Feature
from app.geometry.countries import country_at, country_phrase
from app.geometry.holes import split_holes
from app.geometry.rings import parsed_rings
from app.policy.countries import COUNTRY_CODES, MISTAKEN_CODES, PARTS_ELSEWHERE
from app.policy.eudr import (
    ADDRESS,
    AREA,
    AREA_TOLERANCE,
    CADASTRAL,
    CADASTRAL_LENGTH,
    COUNTRY,
    NAME,
    NAME_LENGTH,
    PLACE,
    POINT_HECTARES,
    SIMPLIFIED,
    SMALLEST_HECTARES,
    SPLIT_HOLES,
)
from app.policy.kinds import number_text
from app.values.ids import is_id
from app.values.strict_json import Fragment, dumps
from app.values.text import pluralize

_OWN: Final = (NAME, COUNTRY, PLACE, AREA, CADASTRAL, *ADDRESS)


class EudrOptions(NamedTuple):
    """The options of a file for the EUDR.

    Args:
        producer_name, producer_country: of plots whose metadata has none.
        producer_key: the key of the metadata with the producer, where ProducerName is missing.
        holes: what becomes of holes: ``split``, ``ignore`` or ``refuse``.
        variant: 1: a file for one producer; 2: for several.
        divide: write several files, if one would be too large.
        cattle: points may have more than 4 hectares.
        boundaries, points: what it has of projects: their boundaries, and their plots kept as
            points.
        simplified: write a table for simplified declarations, of places without geometries.
    """

    producer_name: str | None = None
    producer_key: str | None = None
    producer_country: str | None = None
    holes: str = "split"
    variant: int = 1
    divide: bool = False
    cattle: bool = False
    boundaries: bool = True
    points: bool = False
    simplified: bool = False


NO_OPTIONS: Final = EudrOptions()


def pop_options(values: dict[str, Any]) -> EudrOptions:
    """Remove the options from the values of a query, and return them."""
    names = [name for name in EudrOptions._fields if name in values]
    return EudrOptions(**{name: values.pop(name) for name in names})


class Finding(NamedTuple):
    """A problem or a warning, by a code of ``app.policy.eudr``. Those of a whole file have no ids
    and no name. ``proposed``: the country that would be right."""

    code: str
    message: str
    project_id: str | None = None
    asset_id: str | None = None
    name: str | None = None
    proposed: str | None = None

    @property
    def record_id(self) -> str | None:
        """The id of the record that it is about."""
        return self.asset_id or self.project_id


class Plot(NamedTuple):
    """A feature of the file. ``positions``: the bytes of ``outline``."""

    producer: str
    country: str
    place: str
    is_point: bool
    id: str
    part: int
    text: bytes
    positions: bytes

    @property
    def outline(self) -> Grid:
        """Its ring, or the position of a point."""
        return np.frombuffer(self.positions, np.int64).reshape(-1, 2)


class Changes(NamedTuple):
    """What a file has differently: the number of boundaries with several parts, of holes, and of
    records whose positions have more decimals."""

    parts: int = 0
    holes: int = 0
    rounded: int = 0


class RecordPlots(NamedTuple):
    """The plots of a record, with their problems and warnings."""

    feature: Feature
    plots: list[Plot]
    problems: list[Finding]
    warnings: list[Finding]
    changes: Changes = Changes()


def make_plots(records: bytes, options: tuple[Any, ...]) -> list[Any]:
    """The plots, problems, warnings and changes of each record, as plain tuples. Plots with
    problems have texts, too, for their sizes.

    Args:
        records: the JSON of an array with the geometry and the properties of each.
        options: those of ``EudrOptions``.
    """
    drafts = [
        _Draft(Feature(geometry, properties), EudrOptions(*options))
        for geometry, properties in orjson.loads(records)
    ]
    validity = iter(are_valid([ring for draft in drafts for ring in draft.rings]))
    return [draft.checked([next(validity) for _ in draft.rings]) for draft in drafts]


class _Draft:
    """The plots of a record before their outlines are checked."""

    def __init__(self, feature: Feature, options: EudrOptions) -> None:
        self._feature, self._options = feature, options
        self._own = _plot_properties(feature)
        self._is_asset = is_id("asset", feature.id)
        self.problems: list[Finding] = []
        self.warnings: list[Finding] = []
        self._changes = Changes()
        self._check_texts()
        self._hectares: list[float] = []  # one for each outline
        self.outlines = self._read_outlines()

    @property
    def rings(self) -> list[Grid]:
        """The outlines that have to be valid."""
        return [] if self._is_asset else self.outlines

    def checked(self, validity: list[bool]) -> list[Any]:
        """The plots, problems, warnings and changes.

        Args:
            validity: one for each of ``rings``: True if it is valid.
        """
        if not all(validity):
            part = f"Part {1 + validity.index(False)} of the" if len(validity) > 1 else "The"
            message = (
                f"{part} plot crosses or touches itself, or vanishes, when its positions have six "
                "decimals. They are too close to each other: remove some, or move them apart."
            )
            self._problem("breaks_at_six_decimals", message)
        self._check_area()
        plots = list(self._plots())
        found = [list(map(tuple, found)) for found in (plots, self.problems, self.warnings)]
        return [*found, tuple(self._changes)]

    def _problem(self, code: str, message: str, proposed: str | None = None) -> None:
        self.problems.append(finding_about(self._feature, code, message, proposed))

    def _warn(self, code: str, message: str, proposed: str | None = None) -> None:
        self.warnings.append(finding_about(self._feature, code, message, proposed))

    def _check_texts(self) -> None:
        options = self._options
        self._name = self._own.get(NAME) or self._named_producer() or options.producer_name
        country = self._own.get(COUNTRY, options.producer_country)
        self._country = None if country is None else country_code(country)
        self._place = self._own.get(PLACE) or str(self._feature.properties["name"])
        if self._name is None:
            self._warn("producer_missing", f"Set {NAME}, or add producer_name.")
        self._check_country(country)
        texts = {NAME: self._name, PLACE: self._place}
        if options.simplified:
            texts |= {name: self._own.get(name) for name in (CADASTRAL, *ADDRESS)}
            missing = [name for name in ADDRESS if name not in self._own]
            if missing and CADASTRAL not in self._own:
                message = f"Set {CADASTRAL}, or {' and '.join(missing)}."
                self._problem("address_incomplete", message)
        for name, text in texts.items():
            most = CADASTRAL_LENGTH if name == CADASTRAL else NAME_LENGTH
            if text and len(text) > most:
                message = f"Shorten {name} to {most} characters; it has {len(text):,}."
                self._problem("too_long", message)
        if PLACE not in self._own:
            self._warn("place_missing", f"The name stands for it. Set {PLACE} for another one.")

    def _named_producer(self) -> str | None:
        """The text at the key of the metadata that the options name."""
        if (key := self._options.producer_key) is None:
            return None
        kind = ASSETS if self._is_asset else PROJECTS
        return _cell_text(self._feature.properties.get(kind.property_name(key)))

    def _check_country(self, country: str | None) -> None:
        location = country_of_plot(self._feature)
        if country is None:
            self._problem("country_missing", f"Set {COUNTRY}, or add producer_country.", location)
        elif self._country not in COUNTRY_CODES:
            right = MISTAKEN_CODES.get(country_code(country), (location,))[0]
            self._problem("country_invalid", country_error(country), right)
        elif location is not None and location not in (
            self._country,
            PARTS_ELSEWHERE.get(self._country),
        ):
            lies_in = f"the plot lies in {country_phrase(location)}"
            self._warn("country_differs", f"{COUNTRY} is {self._country}, and {lies_in}.", location)

    def _read_outlines(self) -> list[Grid]:
        geometry = self._feature.geometry
        if geometry is None and self._options.simplified:
            return []
        if geometry is None:
            missing = "location of the plot" if self._is_asset else "boundary of the project"
            self._problem("no_place", f"Set the {missing}, or leave it out of the file.")
            return []
        if self._is_asset:
            degrees = np.array([_point_position(geometry)])
            self._changes = Changes(rounded=has_more_decimals(degrees))
            return [grid_of_points(degrees)]
        rings = parsed_rings(geometry)
        degrees = np.column_stack((rings.lon, rings.lat))
        grids = without_repeats(grid_of_points(degrees), rings.starts)
        parts = len(rings.part_starts) - 1
        self._changes = Changes(parts > 1, len(grids) - parts, has_more_decimals(degrees))
        outlines: list[Grid] = []
        for first, last in pairwise(rings.part_starts):
            outlines += self._outlines_of_part(*grids[first:last])
        return outlines

    def _outlines_of_part(self, outline: Grid, *holes: Grid) -> list[Grid]:
        """The outlines of a part of the boundary."""
        if not holes or self._options.holes == "ignore":
            return [outline]
        if self._options.holes == "refuse":
            message = (
                "The boundary has holes, which the system counts as part of the plot. Add "
                "holes=split to cut the plot in parts around them, or holes=ignore to fill them."
            )
            if not any(problem.code == "hole" for problem in self.problems):
                self._problem("hole", message)
            return [outline]
        rings = [outline, *filter(has_area, holes)]
        if not has_area(outline) or len(rings) == 1:
            return [outline]
        exterior, *interiors = linear_rings(np.concatenate(rings), list(map(len, rings)))
        polygon = shapely.polygons(exterior, interiors)
        if not shapely.is_valid(polygon):
            self._problem(
                "breaks_at_six_decimals",
                "A hole crosses another ring, or the outline, at six decimals. Move its positions "
                "apart.",
            )
            return [outline]
        parts = split_holes(polygon) if len(interiors) <= SPLIT_HOLES else None
        if parts is None:
            self._problem(
                "hole",
                f"The plot cannot be cut in parts around its {pluralize(len(interiors), 'hole')}: "
                "there are too many, or they touch. Add holes=ignore to fill them, or draw the "
                "plot as several.",
            )
            return [outline]
        starts = np.cumsum(np.append(0, shapely.get_num_coordinates(parts)))
        return without_repeats(shapely.get_coordinates(parts).astype(np.int64), starts.tolist())

    def _check_area(self) -> None:
        """Settle what is written as ``Area``, and compare it with the measured area."""
        self._hectares = [] if self._is_asset else [grid_hectares(ring) for ring in self.outlines]
        if AREA not in self._own:
            return
        area = self._own.pop(AREA)
        if type(area) not in (int, float):
            number = _parse_number(area) if self._is_asset else None
            default = POINT_HECTARES if self._is_asset else round(self._total(), 4)
            written = _decimal_text(default if number is None else number)
            self._warn(
                "area_text",
                f"{AREA} is {_shortened_text(area)}, which is no number. The file has {written}.",
            )
            if number is None:
                return
            area = number
        self._own[AREA] = area
        if self._is_asset:
            self._check_area_of_point(area)
        elif area <= 0:
            self._problem(
                "area_invalid",
                f"{AREA} is {_decimal_text(area)} hectares. Correct it, or remove it.",
            )
        elif abs(area - self._total()) > AREA_TOLERANCE * self._total() > 0:
            measured = f"the boundary has {self._total():.4f}"
            self._warn("area_differs", f"{AREA} is {_decimal_text(area)} hectares, and {measured}.")

    def _check_area_of_point(self, area: float) -> None:
        sentence = f"{AREA} is {_decimal_text(area)} hectares."
        if area < SMALLEST_HECTARES:
            message = f"{sentence} A point has {SMALLEST_HECTARES:.4f} at least."
            self._problem("area_invalid", message)
        elif area > POINT_HECTARES and not self._options.cattle:
            self._problem(
                "point_over_4_ha",
                f"{sentence} A point has {POINT_HECTARES:g} at most, but for cattle. Draw the "
                "boundary of the plot as a project.",
            )

    def _table_row(self) -> bytes:
        """The row of a table for simplified declarations."""
        is_point = self._is_asset and self.outlines
        measured = POINT_HECTARES if is_point else round(self._total(), 4) or None
        values = {
            **self._own,
            NAME: self._name,
            COUNTRY: self._country,
            PLACE: self._place,
            AREA: self._own.get(AREA, measured),
            "id": self._feature.id,
        }
        return csv_line(values.get(name) for name in SIMPLIFIED)

    def _total(self) -> float:
        return sum(self._hectares)

    def _plots(self) -> Iterator[Plot]:
        """Yield a plot for each outline."""
        properties = {NAME: self._name, COUNTRY: self._country, PLACE: self._place}
        texts = {name: text for name, text in properties.items() if text is not None}
        key = (self._name or "", self._country or "", self._place)
        if self._options.simplified:
            yield Plot(*key, self._is_asset, self._feature.id, 0, self._table_row(), b"")
            return
        for part, outline in enumerate(self.outlines):
            if self._is_asset:
                area = self._own.get(AREA, POINT_HECTARES)
                geometry = Fragment(f'{{"type":"Point","coordinates":{grid_text(outline)}}}')
            else:
                area = max(round(self._hectares[part], 4), SMALLEST_HECTARES)
                area = self._own.get(AREA, area) if len(self.outlines) == 1 else area
                geometry = Fragment(f'{{"type":"Polygon","coordinates":[[{grid_text(outline)}]]}}')
            feature = {
                "type": "Feature",
                "properties": texts | {AREA: area},
                "geometry": geometry,
            }
            text, positions = dumps(feature), outline.tobytes()
            yield Plot(*key, self._is_asset, self._feature.id, part, text, positions)


def finding_about(
    feature: Feature, code: str, message: str, proposed: str | None = None
) -> Finding:
    """A problem or a warning about a record."""
    properties = feature.properties
    is_asset = is_id("asset", feature.id)
    return Finding(
        code,
        message,
        properties["project_id"] if is_asset else feature.id,
        feature.id if is_asset else None,
        properties["name"],
        proposed,
    )


def country_of_plot(feature: Feature) -> str | None:
    """The country that a plot lies in."""
    if not is_id("asset", feature.id):
        country: str | None = feature.properties["country"]
        return country
    return None if feature.geometry is None else country_at(*_point_position(feature.geometry))


def country_code(text: str) -> str:
    """The code that a text in any case is; ``ß`` is not SS."""
    return text.upper() if text.isascii() else text


def country_error(text: str) -> str:
    """The reason why the system takes a text for no country."""
    if (right := MISTAKEN_CODES.get(country_code(text))) is not None:
        return f"{text} is no code of ISO 3166-1. The code of {right[1]} is {right[0]}."
    wrong = _shortened_text(text)
    return f"{wrong} is no country. Set {COUNTRY} to two letters of ISO 3166-1, such as GH."


def _plot_properties(feature: Feature) -> dict[str, Any]:
    """The properties of plots in the metadata, by the names of the system. A name in another case
    counts where there is none in the right one."""
    properties = feature.properties
    names = {name.lower(): name for name in properties}
    names |= {name.lower(): name for name in _OWN if name in properties}
    own: dict[str, Any] = {}
    for name in _OWN:
        value = properties.get(names.get(name.lower(), name))
        if name != AREA:
            value = _cell_text(value)
        elif isinstance(value, str):
            value = value.strip()
        if value not in (None, ""):
            own[name] = value
    return own


def _cell_text(value: object) -> str | None:
    """A text or a number as text; None for what is neither, and for a blank text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return number_text(value).strip() or None


def _point_position(point: Any) -> list[float]:
    """Longitude and latitude of a stored point."""
    position: list[float] = orjson.loads(dumps(point))["coordinates"][:2]
    return position


def _parse_number(value: object) -> float | None:
    """The number that a text is."""
    try:
        number = float(str(value).replace(",", "."))
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _decimal_text(number: float) -> str:
    """A number without an exponent: 0.00009."""
    return np.format_float_positional(number, trim="-")


def _shortened_text(value: object) -> str:
    text = dumps(value).decode()
    return text if len(text) <= 40 else f"{text[:39]}…"
