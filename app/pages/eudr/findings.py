"""The report of the page: what the file would hold, and groups of what is to be completed."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import shapely
from flask import current_app

from app.api.expensive import expensive_work
from app.auth.principal import Principal
from app.eudr.report import Report, make_report
from app.formats.writers.eudr_plots import (
    Grid,
    Reading,
    country_of_plot,
    cut_off,
    degrees,
    finding,
)
from app.formats.writers.source import Finding
from app.geometry import timed
from app.geometry.complexity import SMALL
from app.pages.eudr import words
from app.pages.eudr.choices import Choices
from app.policy.countries import COUNTRY_CODES
from app.policy.eudr import DECIMALS, PROBLEMS, WARNINGS
from app.policy.request_limits import VALIDATION_SECONDS
from app.values.strict_json import dumps
from app.values.text import pluralize

SHOWN: Final = 50  # plots of a group
_DRAWN: Final = ("breaks_at_six_decimals", "hole")
_POSITIONS: Final = 200  # of an outline that a map shows
_NEAR: Final = 40  # positions around a fault that it shows besides
_FEWEST: Final = 4  # positions of a ring
_CHECKED: Final = 5_000  # positions of a plot in which the fault is looked for


class Group(NamedTuple):
    """All that was found with one code.

    Args:
        found: the first SHOWN.
        others: the other plots, of overlaps.
        proposals: how many of the plots lie in which country, the most first.
        shapes: what a map shows of the first, as GeoJSON; empty: there is no map.
    """

    code: str
    is_problem: bool
    number: int
    found: list[Finding]
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
        return self.found[0].record_id is not None

    @property
    def more(self) -> int:
        return self.number - len(self.found)


class Overview(NamedTuple):
    """What the page shows of a file.

    Args:
        producers: how many names of producers there are.
        places: how many plots lie in which country.
        plots: all of them; None: there is none.
    """

    report: Report
    producers: int
    countries: list[str]
    places: Counter[str]
    problems: list[Group]
    warnings: list[Group]
    plots: Group | None

    @property
    def headline(self) -> str:
        """What the file would hold."""
        report = self.report
        text = pluralize(report.features, "plot")
        if self.producers:
            text += f" of {pluralize(self.producers, 'producer')}"
        elif report.features:
            text += " without producers"
        if self.countries:
            text += f" in {words.countries(self.countries)}"
        kinds = [f"{report.plots:,} with boundaries"] if report.plots else []
        kinds += [f"{report.points:,} as points"] if report.points else []
        files = f" in {report.files:,} files" if report.files > 1 else ""
        return f"{text}, {' and '.join(kinds)}, {words.size(report.bytes)}{files}"

    @property
    def to_complete(self) -> int:
        return sum(self.report.problem_counts.values())


def look(principal: Principal, choices: Choices) -> Overview:
    """Make the report of what was chosen.

    Raises:
        BadRequest: there are too many plots.
        ServiceUnavailable: others are before this request.
    """
    seen = _Seen()
    export = choices.export(principal)
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    with expensive_work():
        report = make_report(export, app, seen.add)
    return Overview(
        report,
        len(seen.producers),
        [code for code, _ in seen.countries.most_common()],
        seen.places,
        _groups(report, seen, is_problem=True),
        _groups(report, seen, is_problem=False),
        seen.all_plots(),
    )


class _Seen:
    """What is noted of each record while the report is made."""

    def __init__(self) -> None:
        self.producers: set[str] = set()
        self.countries: Counter[str] = Counter()  # of production
        self.places: Counter[str] = Counter()  # where plots lie
        self.proposals: dict[str, Counter[str]] = defaultdict(Counter)  # by code
        self.shapes: dict[str, list[dict[str, Any]]] = defaultdict(list)  # by code
        self.plots: list[Finding] = []  # the first SHOWN, with what the file says of them
        self.number = 0  # of plots

    def all_plots(self) -> Group | None:
        """The group of all plots."""
        if not self.number:
            return None
        return Group(words.ALL_PLOTS, False, self.number, self.plots, [], [], "")

    def add(self, reading: Reading) -> None:
        if reading.plots:
            self.number += 1
            if len(self.plots) < SHOWN:
                plot = reading.plots[0]
                said = (plot.producer or "No producer", plot.country or "no country", plot.place)
                self.plots.append(finding(reading.feature, words.ALL_PLOTS, " · ".join(said)))
        self.countries.update({plot.country for plot in reading.plots} & COUNTRY_CODES)
        self.producers |= {plot.producer for plot in reading.plots if plot.producer}
        if (place := country_of_plot(reading.feature)) is not None:
            self.places[place] += 1
        for each in (*reading.problems, *reading.warnings):
            if each.code in words.FIELD_OF and place is not None:
                self.proposals[each.code][place] += 1
            drawn = self.shapes[each.code] if each.code in _DRAWN else None
            if drawn is not None and len(drawn) < SHOWN:
                drawn.append(_shape(reading, each))


def _groups(report: Report, seen: _Seen, *, is_problem: bool) -> list[Group]:
    """Groups in the order of the policy."""
    found = report.problems if is_problem else report.warnings
    counts = report.problem_counts if is_problem else report.warning_counts
    by_code: dict[str, list[Finding]] = defaultdict(list)
    for each in found:
        if len(by_code[each.code]) < SHOWN:
            by_code[each.code].append(each)
    return [
        Group(
            code,
            is_problem,
            counts[code],
            by_code[code],
            report.others[:SHOWN] if code == "overlap" else [],
            seen.proposals[code].most_common(),
            dumps(seen.shapes[code]).decode() if seen.shapes[code] else "",
        )
        for code in (PROBLEMS if is_problem else WARNINGS)
        if code in counts
    ]


def _shape(reading: Reading, found: Finding) -> dict[str, Any]:
    """Outlines of a plot, and the place of its fault, for a map."""
    outlines = [plot.outline for plot in reading.plots]
    part, fault = _first_fault(outlines) if found.code != "hole" else (0, None)
    shown = outlines[max(0, part - SHOWN // 2) :][:SHOWN]
    return {
        "id": found.record_id,
        "outlines": [_simplified(degrees(each), fault) for each in shown],
        "holes": _holes(reading) if found.code == "hole" else [],
        "fault": fault,
    }


def _first_fault(outlines: list[Grid]) -> tuple[int, list[float] | None]:
    """The index of the first outline with a fault, and where; None: there is none, or too far on
    to be looked for."""
    left = _CHECKED
    for index, outline in enumerate(outlines):
        if len(outline) > left:
            continue
        left -= len(outline)
        if (fault := _fault(outline)) is not None:
            return index, fault
    return 0, None


def _holes(reading: Reading) -> list[Any]:
    """The holes of a boundary, simplified."""
    geometry = orjson.loads(dumps(reading.feature.geometry))
    parts = geometry["coordinates"]
    parts = [parts] if geometry["type"] == "Polygon" else parts
    return [_simplified(np.array(ring), None) for part in parts for ring in part[1:]][:SHOWN]


def _simplified(ring: Any, fault: list[float] | None) -> Any:
    """Every nth position of a ring, and all that are near the fault."""
    kept = set(range(0, len(ring), 1 + len(ring) // _POSITIONS)) | {len(ring) - 1}
    if fault is not None:
        distances = np.hypot(*(ring[:, :2] - fault).T)
        kept |= set(np.argsort(distances)[:_NEAR].tolist())
    return np.round(ring[sorted(kept), :2], DECIMALS).tolist()


def _fault(outline: Grid) -> list[float] | None:
    """Where an outline crosses or touches itself; None: it does not."""
    positions = degrees(outline)
    if len(outline) < _FEWEST:
        return [float(each) for each in positions[0]]
    return _place(positions) or _place(degrees(cut_off(outline)))


def _place(positions: Any) -> list[float] | None:
    """The place in the reason why a polygon is invalid: ``Self-intersection[8.5 50.1]``."""
    polygon = shapely.Polygon(positions)
    if len(positions) <= SMALL:
        reason = shapely.is_valid_reason(polygon)
    else:
        reason = timed.validity_reason(polygon, VALIDATION_SECONDS) or ""
    place = reason.partition("[")[2]
    return [float(each) for each in place.rstrip("]").split()[:2]] or None
