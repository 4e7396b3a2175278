"""What the files for the EUDR would be, without making them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import shapely
from flask import Flask

from app.api.expensive import client_check
from app.downloads.files import no_room
from app.exports.service import Export, features_for_eudr
from app.formats.writers.eudr import PlotStore, file_problems, plot_store
from app.formats.writers.eudr_plots import Grid, Reading, degrees, finding, read_plots
from app.formats.writers.features import Feature
from app.formats.writers.source import Finding
from app.geometry.polygons import polygon_rings
from app.geometry.shapes import Shape, common_area, shape_of
from app.geometry.timed import processor_seconds
from app.http.errors import BadRequest
from app.policy.eudr import LISTED, OVERLAP_POSITIONS, OVERLAP_SECONDS, REPORT_PLOTS
from app.policy.request_limits import OVERLAP_M2

_SQUARE_METERS: Final = 10_000  # of a hectare
_KEPT: Final = 100_000  # positions of shapes that are kept while plots are compared


@dataclass
class Report:
    """What the files would be.

    Attributes:
        files: how many; more than one only with ``divide``.
        problem_counts, warning_counts: how many there are, by their codes.
        problems, warnings: at most LISTED of each code, in the order of creation.
        others: the other plot of each listed warning of an overlap, in their order.
        is_complete: whether all plots were compared for overlaps.
    """

    files: int = 0
    features: int = 0
    points: int = 0
    producers: int = 0
    bytes: int = 0
    problems: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    problem_counts: dict[str, int] = field(default_factory=dict)
    warning_counts: dict[str, int] = field(default_factory=dict)
    others: list[Finding] = field(default_factory=list)
    is_complete: bool = True

    @property
    def plots(self) -> int:
        """The polygons."""
        return self.features - self.points

    @property
    def is_ready(self) -> bool:
        return not self.problem_counts and self.features > 0

    def add_problems(self, found: list[Finding]) -> None:
        """Count problems, and list them."""
        _add(found, self.problems, self.problem_counts)

    def add_warnings(self, found: list[Finding]) -> None:
        """Count warnings, and list them."""
        _add(found, self.warnings, self.warning_counts)


def _add(found: list[Finding], listed: list[Finding], counts: dict[str, int]) -> None:
    for each in found:
        counts[each.code] = counts.get(each.code, 0) + 1
        if counts[each.code] <= LISTED:
            listed.append(each)


def make_report(
    export: Export, app: Flask, on_reading: Callable[[Reading], None] = lambda _: None
) -> Report:
    """Report on the file that an export in the format ``eudr`` would be, in a request.

    Args:
        on_reading: called with what becomes of each record.

    Raises:
        BadRequest: there are more than REPORT_PLOTS plots.
        ServiceUnavailable: there is no room on the disk for the plots, or the client has gone.
    """
    report, shapes, check = Report(), _Shapes(), client_check()
    features = features_for_eudr(export, app, lambda _: check())
    try:
        with plot_store(Path(app.instance_path)) as store:
            for reading in read_plots(features, export.eudr):
                on_reading(reading)
                report.add_problems(reading.problems)
                report.add_warnings(reading.warnings)
                store.add(reading.plots)
                shapes.add(reading)
                if store.features > REPORT_PLOTS:
                    raise BadRequest(
                        f"There are more than {REPORT_PLOTS:,} plots. Filter them, and look at one "
                        "part after the other."
                    )
            _sum_up(report, store, export)
    except OSError:
        raise no_room() from None
    for warning, other in shapes.overlaps():
        report.add_warnings([warning])
        if len(report.others) < LISTED:
            report.others.append(other)
    report.is_complete = shapes.is_complete
    return report


def report_record(report: Report) -> dict[str, Any]:
    """The record of a report."""
    return {
        "ready": report.is_ready,
        "files": report.files,
        "features": report.features,
        "plots": report.plots,
        "points": report.points,
        "producers": report.producers,
        "bytes": report.bytes,
        "problems": [each._asdict() for each in report.problems],
        "warnings": [each._asdict() for each in report.warnings],
        "problem_counts": report.problem_counts,
        "warning_counts": report.warning_counts,
        "overlaps_complete": report.is_complete,
    }


def _sum_up(report: Report, store: PlotStore, export: Export) -> None:
    """Add what is known of the files as a whole."""
    files = store.files(divide=export.eudr.divide)
    report.features, report.points, report.producers = (
        store.features, store.points, store.producers(),
    )  # fmt: skip
    report.files = len(files)
    report.bytes = sum(each.bytes for each in files)
    report.add_problems(file_problems(files))
    if export.eudr.variant == 1 and report.producers > 1:
        message = (
            f"The file has {report.producers:,} producers by name and country, as the Information "
            "System counts them. Variant 1 is for one: choose variant 2, or filter the plots."
        )
        report.add_warnings([Finding("several_producers", message)])


class _Shapes:
    """The plots of a report, to find out which of them overlap.

    Attributes:
        is_complete: all were compared.
    """

    def __init__(self) -> None:
        self._records: list[Feature] = []  # without geometries
        self._drawn: list[Any] = []
        self._owners: list[int] = []
        self._positions = 0
        self._kept: dict[int, Shape] = {}
        self._kept_positions = 0
        self.is_complete = True

    def add(self, reading: Reading) -> None:
        """Add the plots of a record whose shape has no problem."""
        if any(each.code == "breaks_at_six_decimals" for each in reading.problems):
            return
        self._positions += sum(len(plot.outline) for plot in reading.plots)
        if self._positions > OVERLAP_POSITIONS:
            self.is_complete = False
            return
        properties = reading.feature.properties
        names = {name: properties.get(name) for name in ("id", "name", "project_id")}
        self._drawn += [_drawn(plot.outline) for plot in reading.plots]
        self._owners += [len(self._records)] * len(reading.plots)
        self._records.append(Feature(None, names))

    def overlaps(self) -> Iterator[tuple[Finding, Finding]]:
        """Yield a warning for each two records that overlap: at the later one, and at the first."""
        tree = shapely.STRtree(self._drawn)
        told: set[tuple[int, int]] = set()
        end = processor_seconds() + OVERLAP_SECONDS
        for one, drawn in enumerate(self._drawn):
            near = tree.query(drawn)  # one by one: all of them may be in the same place
            for other in near[near > one].tolist():
                owners = self._owners[one], self._owners[other]
                if owners in told:
                    continue
                if processor_seconds() > end:
                    self.is_complete = False
                    return
                if message := self._overlap(one, other):
                    told.add(owners)
                    first, later = (self._records[owner] for owner in owners)
                    text = message.format(first.properties["name"])
                    yield finding(later, "overlap", text), finding(first, "overlap", text)

    def _overlap(self, one: int, other: int) -> str | None:
        """What two plots have in common, with a place for the name of the first; None: nothing."""
        first, second = self._drawn[one], self._drawn[other]
        points = [each.geom_type == "Point" for each in (first, second)]
        if all(points):
            is_same = bool(shapely.equals(first, second))
            return "Both are points at the same place: “{}”." if is_same else None
        if any(points):
            is_inside = shapely.intersects(first, second)
            return "One lies within the other: “{}”." if is_inside else None
        common = common_area(self._shape(one), self._shape(other))
        if common is None:
            self.is_complete = False
        if common is None or common < OVERLAP_M2:
            return None
        return f"It has {common / _SQUARE_METERS:,.4f} hectares in common with “{{}}”."

    def _shape(self, index: int) -> Shape:
        if index not in self._kept:
            if self._kept_positions > _KEPT:
                self._kept.clear()
                self._kept_positions = 0
            self._kept[index] = shape_of(polygon_rings(self._drawn[index]))
            self._kept_positions += shapely.get_num_coordinates(self._drawn[index])
        return self._kept[index]


def _drawn(outline: Grid) -> Any:
    positions = degrees(outline)
    return shapely.Point(positions[0]) if len(outline) == 1 else shapely.Polygon(positions)
