"""The overview of the page: the content of the file, and its problems and warnings in groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import shapely
from flask import current_app

from app.api.expensive import client_check, expensive_work
from app.auth.principal import Principal
from app.eudr.grid import FEWEST_POSITIONS, Grid, cut_off, grid_degrees
from app.eudr.plots import Finding, RecordPlots, country_of_plot, finding_about
from app.eudr.report import Findings, Report, make_report
from app.exports.service import features_for_eudr
from app.formats.writers.features import ASSETS, PROJECTS, Feature
from app.geometry import timed
from app.geometry.complexity import SMALL
from app.geometry.locate import fault_location
from app.pages.eudr import words
from app.pages.eudr.choices import Choices
from app.policy.countries import COUNTRY_CODES
from app.policy.eudr import DECIMALS, PROBLEMS, WARNINGS
from app.policy.request_limits import VALIDATION_SECONDS
from app.site.formats import byte_size, number, pluralize
from app.values.ids import is_id
from app.values.strict_json import dumps

GROUP_PLOTS: Final = 50  # plots of a group
_CODES_WITH_MAP: Final = ("breaks_at_six_decimals", "hole")
_COLUMNS: Final = 8
_OUTLINE_POSITIONS: Final = 200  # on a map
_POSITIONS_NEAR_FAULT: Final = 40  # are added to these
_DRAWN_POSITIONS: Final = 20_000  # in a boundary whose holes are on it
_SEARCHED_POSITIONS: Final = 5_000  # in a plot, to find its fault


class Group(NamedTuple):
    """All findings with one code.

    Args:
        number: the number of findings.
        findings: the first of them.
        others: the other plots, of overlaps.
        proposals: countries, with the number of plots in each, the most first.
        shapes: the first plots on a map, as JSON; empty: there is no map.
    """

    code: str
    is_problem: bool
    number: int
    findings: list[Finding]
    others: list[Finding]
    proposals: list[tuple[str, int]]
    shapes: str

    @property
    def words(self) -> words.Words:
        return words.WORDS[self.code]

    @property
    def field(self) -> str | None:
        """The property that can be set for all; None: there is none."""
        return words.FIELD_OF.get(self.code)

    @property
    def is_of_plots(self) -> bool:
        """False if it is about the file as a whole."""
        return self.findings[0].record_id is not None


class Overview:
    """A summary of a file, collected while its report is made.

    Attributes:
        report: the report.
        producers: the names of producers.
        countries: of production.
        places: the number of plots that lie in each country.
    """

    report: Report

    def __init__(self) -> None:
        self.producers: set[str] = set()
        self.countries: Counter[str] = Counter()
        self.places: Counter[str] = Counter()
        self._proposals: dict[str, Counter[str]] = defaultdict(Counter)  # by code
        self._shapes: dict[str, list[dict[str, Any]]] = defaultdict(list)  # by code
        self._columns: Counter[str] = Counter()
        self._plots: list[Finding] = []  # the first, with what the file says of them
        self._number = 0  # of all

    def headline(self, choices: Choices) -> str:
        """The content of the file, in a sentence."""
        report = self.report
        text = pluralize(report.features, "plot")
        producers = pluralize(len(self.producers), "producer")
        text += f" of {producers}" if self.producers else " without producers"
        if self.countries:
            text += f" in {words.countries(code for code, _ in self.countries.most_common())}"
        if not choices.is_ticked("simplified"):
            kinds = [f"{number(report.plots)} with boundaries"] if report.plots else []
            kinds += [f"{number(report.points)} as points"] if report.points else []
            text += f", {' and '.join(kinds)}"
        files = f" in {number(report.files)} files" if report.files > 1 else ""
        return f"{text}, {byte_size(report.bytes)}{files}"

    @property
    def columns(self) -> list[tuple[str, int]]:
        """Keys of the metadata of plots without a producer, with the number of plots that have a
        value there, the most first."""
        return self._columns.most_common(_COLUMNS)

    @cached_property
    def plots(self) -> Group | None:
        """The group of all plots; None: there is none."""
        if not self._number:
            return None
        return Group(words.ALL_PLOTS, False, self._number, self._plots, [], [], "")

    @cached_property
    def problems(self) -> list[Group]:
        """The groups of problems, in the order of the policy."""
        return list(self._groups(PROBLEMS, self.report.problems))

    @cached_property
    def warnings(self) -> list[Group]:
        """The groups of warnings, in the order of the policy."""
        return list(self._groups(WARNINGS, self.report.warnings))

    def _groups(self, codes: Iterable[str], findings: Findings) -> Iterator[Group]:
        for code in filter(findings.counts.get, codes):
            yield Group(
                code,
                findings is self.report.problems,
                findings.counts[code],
                [each for each in findings.listed if each.code == code][:GROUP_PLOTS],
                self.report.others[:GROUP_PLOTS] if code == "overlap" else [],
                self._proposals[code].most_common(),
                dumps(self._shapes[code]).decode() if self._shapes[code] else "",
            )

    def add(self, record: RecordPlots) -> None:
        """Add the plots of a record."""
        if record.plots:
            self._number += 1
            if len(self._plots) < GROUP_PLOTS:
                plot = record.plots[0]
                texts = (plot.producer or "No producer", plot.country or "no country", plot.place)
                text = " · ".join(texts)
                self._plots.append(finding_about(record.feature, words.ALL_PLOTS, text))
        self.countries.update({plot.country for plot in record.plots} & COUNTRY_CODES)
        self.producers |= {plot.producer for plot in record.plots if plot.producer}
        if (place := country_of_plot(record.feature)) is not None:
            self.places[place] += 1
        for finding in (*record.problems, *record.warnings):
            if finding.code == "producer_missing":
                self._columns.update(_text_keys(record.feature))
            if finding.code in words.FIELD_OF and place is not None:
                self._proposals[finding.code][place] += 1
            if finding.code in _CODES_WITH_MAP and len(self._shapes[finding.code]) < GROUP_PLOTS:
                self._shapes[finding.code].append(_plot_shape(record, finding))


def make_overview(principal: Principal, choices: Choices) -> Overview:
    """Report on the file with the chosen plots.

    Raises:
        BadRequest: there are too many plots.
        ServiceUnavailable: others are before this request.
    """
    overview, check = Overview(), client_check()
    export = choices.export(principal)
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    features = features_for_eudr(export, app, lambda _: check())
    with expensive_work():
        folder = Path(app.instance_path)
        overview.report = make_report(features, export.eudr, folder, overview.add)
    return overview


def _text_keys(feature: Feature) -> Iterator[str]:
    """Yield the keys of the metadata that may have the producer."""
    kind = ASSETS if is_id("asset", feature.id) else PROJECTS
    for name, value in feature.properties.items():
        key = kind.metadata_key(name)
        if key is not None and key not in words.LABELS and isinstance(value, str) and value.strip():
            yield key


def _plot_shape(record: RecordPlots, problem: Finding) -> dict[str, Any]:
    """Outlines of a plot, and the place of its fault, for a map."""
    outlines = [plot.outline for plot in record.plots]
    part, fault = _first_fault(outlines) if problem.code != "hole" else (0, None)
    around_fault = outlines[max(0, part - GROUP_PLOTS // 2) :][:GROUP_PLOTS]
    return {
        "id": problem.record_id,
        "outlines": [_simplify_ring(grid_degrees(outline), fault) for outline in around_fault],
        "holes": _boundary_holes(record) if problem.code == "hole" else [],
        "fault": fault,
    }


def _first_fault(outlines: list[Grid]) -> tuple[int, list[float] | None]:
    """The index of the first outline with a fault, and where it is. 0 and None if there is none,
    or only beyond the positions that are searched."""
    left = _SEARCHED_POSITIONS
    for index, outline in enumerate(outlines):
        if len(outline) > left:
            continue
        left -= len(outline)
        if (fault := _crossing_position(outline)) is not None:
            return index, fault
    return 0, None


def _boundary_holes(record: RecordPlots) -> list[Any]:
    """The first holes of a boundary, simplified; none of a large one, which takes long to read."""
    text = dumps(record.feature.geometry)
    if text.count(b"[") > _DRAWN_POSITIONS:
        return []
    geometry = orjson.loads(text)
    parts = geometry["coordinates"]
    parts = [parts] if geometry["type"] == "Polygon" else parts
    holes = islice((ring for part in parts for ring in part[1:]), GROUP_PLOTS)
    return [_simplify_ring(np.array(hole), None) for hole in holes]


def _simplify_ring(ring: Any, fault: list[float] | None) -> Any:
    """Every nth position of a ring, and those nearest to the fault."""
    indexes = set(range(0, len(ring), 1 + len(ring) // _OUTLINE_POSITIONS)) | {len(ring) - 1}
    if fault is not None:
        distances = np.hypot(*(ring[:, :2] - fault).T)
        indexes |= set(np.argsort(distances)[:_POSITIONS_NEAR_FAULT].tolist())
    return np.round(ring[sorted(indexes), :2], DECIMALS).tolist()


def _crossing_position(outline: Grid) -> list[float] | None:
    """The position where an outline crosses or touches itself; None: it does not."""
    positions = grid_degrees(outline)
    if len(outline) < FEWEST_POSITIONS:
        return [float(degree) for degree in positions[0]]
    return _fault_position(positions) or _fault_position(grid_degrees(cut_off(outline)))


def _fault_position(positions: Any) -> list[float] | None:
    polygon = shapely.Polygon(positions)
    if len(positions) <= SMALL:
        reason = shapely.is_valid_reason(polygon)
    else:
        reason = timed.validity_reason(polygon, VALIDATION_SECONDS) or ""
    fault = fault_location(reason)
    return fault and fault.coordinates
