"""A report on the files for the EUDR, without writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import shapely

from app.downloads.files import no_room_error
from app.eudr.grid import SQUARE_METERS, Grid, grid_degrees
from app.eudr.plots import EudrOptions, Finding, RecordPlots, finding_about, read_plots
from app.eudr.writer import PlotStore, file_problems, plot_store
from app.formats.writers.features import Feature
from app.geometry.polygons import polygon_rings
from app.geometry.shapes import Shape, common_area, shape_of
from app.geometry.timed import processor_seconds
from app.http.errors import BadRequest, Detail
from app.policy.eudr import LISTED, OVERLAP_POSITIONS, REPORT_PLOTS, REPORT_SECONDS
from app.policy.request_limits import OVERLAP_M2
from app.values import processor_clock

CACHED_POSITIONS: Final = 100_000  # in shapes that are kept while plots are compared


@dataclass
class Report:
    """The files that would be written.

    Attributes:
        files: their number; more than one only with ``divide``.
        problem_counts, warning_counts: the number of each code.
        problems, warnings: at most LISTED of each code, in the order of creation.
        others: the other plot of each listed warning of an overlap, in their order.
        is_complete: True if all plots were compared for overlaps.
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
        """The number of polygons."""
        return self.features - self.points

    @property
    def is_ready(self) -> bool:
        return not self.problem_counts and self.features > 0

    def add_problems(self, problems: list[Finding]) -> None:
        """Count problems, and list them."""
        _add_findings(problems, self.problems, self.problem_counts)

    def add_warnings(self, warnings: list[Finding]) -> None:
        """Count warnings, and list them."""
        _add_findings(warnings, self.warnings, self.warning_counts)


def _add_findings(findings: list[Finding], listed: list[Finding], counts: dict[str, int]) -> None:
    for finding in findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
        if counts[finding.code] <= LISTED:
            listed.append(finding)


def make_report(
    features: Iterable[Feature],
    options: EudrOptions,
    folder: Path,
    on_record: Callable[[RecordPlots], None] = lambda _: None,
) -> Report:
    """Report on the file that would be written of projects and assets.

    Args:
        folder: where the plots are stored meanwhile.
        on_record: called with the plots of each record.

    Raises:
        BadRequest: there are more than REPORT_PLOTS plots, or reading them takes too long.
        ServiceUnavailable: there is no room on the disk for the plots.
    """
    report, comparison, clock = Report(), _Comparison(), ReportClock()
    try:
        with plot_store(folder) as store:
            for record in read_plots(features, options, clock.check):
                on_record(record)
                report.add_problems(record.problems)
                report.add_warnings(record.warnings)
                store.add(record.plots)
                comparison.add(record)
                if store.features > REPORT_PLOTS:
                    message = (
                        f"There are more than {REPORT_PLOTS:,} plots. Filter them, and look at one "
                        "part after the other."
                    )
                    raise BadRequest(message, details=[Detail("", message, "too_many")])
            _sum_up(report, store, options)
    except OSError:
        raise no_room_error() from None
    for warning, other in comparison.overlaps(clock):
        report.add_warnings([warning])
        if len(report.others) < LISTED:
            report.others.append(other)
    report.is_complete = comparison.is_complete
    return report


def report_record(report: Report) -> dict[str, Any]:
    """A report as the API gives it."""
    return {
        "ready": report.is_ready,
        "files": report.files,
        "features": report.features,
        "plots": report.plots,
        "points": report.points,
        "producers": report.producers,
        "bytes": report.bytes,
        "problems": [problem._asdict() for problem in report.problems],
        "warnings": [warning._asdict() for warning in report.warnings],
        "problem_counts": report.problem_counts,
        "warning_counts": report.warning_counts,
        "overlaps_complete": report.is_complete,
    }


def _sum_up(report: Report, store: PlotStore, options: EudrOptions) -> None:
    """Add what concerns the files as a whole."""
    files = store.files(divide=options.divide)
    report.features, report.points, report.producers = (
        store.features, store.points, store.producers(),
    )  # fmt: skip
    report.files = len(files)
    report.bytes = sum(file.bytes for file in files)
    report.add_problems(file_problems(files))
    if options.variant == 1 and report.producers > 1:
        message = (
            f"The file has {report.producers:,} producers by name and country, as the Information "
            "System counts them. Variant 1 is for one: choose variant 2, or filter the plots."
        )
        report.add_warnings([Finding("several_producers", message)])


class ReportClock:
    """The processor time of a report, to which each record adds. As it is bounded, the clock of the
    request does not count."""

    def __init__(self) -> None:
        seconds, self._per_record, self._per_position = REPORT_SECONDS
        self._end = processor_seconds() + seconds

    @property
    def is_over(self) -> bool:
        """True once all of the time is used up."""
        processor_clock.restart()
        return processor_seconds() > self._end

    def check(self, positions: int | None = None) -> None:
        """Raise BadRequest if the time is over.

        Args:
            positions: of a record that was read; None: within one.
        """
        if positions is not None:
            self._end += self._per_record + positions * self._per_position
        if self.is_over:
            message = (
                "The plots are so complex that checking them takes too long. Filter them, and look "
                "at one part after the other."
            )
            raise BadRequest(message, details=[Detail("", message, "too_complex")])


class _Comparison:
    """The plots of a report, to find out which of them overlap.

    Attributes:
        is_complete: True if all were compared.
    """

    def __init__(self) -> None:
        self._records: list[Feature] = []  # without geometries
        self._geometries: list[Any] = []  # points and polygons
        self._owners: list[int] = []  # the index of the record of each geometry
        self._positions = 0
        self._shapes: dict[int, Shape] = {}  # by the index of a geometry
        self._cached_positions = 0
        self.is_complete = True

    def add(self, record: RecordPlots) -> None:
        """Add the plots of a record whose shape has no problem."""
        if any(problem.code == "breaks_at_six_decimals" for problem in record.problems):
            return
        self._positions += sum(len(plot.outline) for plot in record.plots)
        if self._positions > OVERLAP_POSITIONS:
            self.is_complete = False
            return
        properties = record.feature.properties
        names = {name: properties.get(name) for name in ("id", "name", "project_id")}
        self._geometries += [_outline_polygon(plot.outline) for plot in record.plots]
        self._owners += [len(self._records)] * len(record.plots)
        self._records.append(Feature(None, names))

    def overlaps(self, clock: ReportClock) -> Iterator[tuple[Finding, Finding]]:
        """Yield a warning for each two records that overlap: at the later one, and at the first."""
        tree = shapely.STRtree(self._geometries)
        reported: set[tuple[int, int]] = set()
        for index, geometry in enumerate(self._geometries):
            near = tree.query(geometry)  # one by one: all of them may be in the same place
            for other in near[near > index].tolist():
                if clock.is_over:
                    self.is_complete = False
                    return
                owners = self._owners[index], self._owners[other]
                if owners in reported:
                    continue
                if message := self._overlap(index, other):
                    reported.add(owners)
                    first, later = (self._records[owner] for owner in owners)
                    text = message.format(first.properties["name"])
                    yield (
                        finding_about(later, "overlap", text),
                        finding_about(first, "overlap", text),
                    )

    def _overlap(self, index: int, other: int) -> str | None:
        """The message for two plots that overlap, with a place for the name of the first; None:
        they do not."""
        pair = self._geometries[index], self._geometries[other]
        number_of_points = sum(geometry.geom_type == "Point" for geometry in pair)
        if number_of_points == 2:
            is_same = bool(shapely.equals(*pair))
            return "Both are points at the same place: “{}”." if is_same else None
        if number_of_points == 1:
            is_inside = shapely.intersects(*pair)
            return "One lies within the other: “{}”." if is_inside else None
        common = common_area(self._shape(index), self._shape(other))
        if common is None:
            self.is_complete = False
        if common is None or common < OVERLAP_M2:
            return None
        return f"It has {common / SQUARE_METERS:,.4f} hectares in common with “{{}}”."

    def _shape(self, index: int) -> Shape:
        if index not in self._shapes:
            if self._cached_positions > CACHED_POSITIONS:
                self._shapes.clear()
                self._cached_positions = 0
            geometry = self._geometries[index]
            self._shapes[index] = shape_of(polygon_rings(geometry))
            self._cached_positions += shapely.get_num_coordinates(geometry)
        return self._shapes[index]


def _outline_polygon(outline: Grid) -> Any:
    positions = grid_degrees(outline)
    return shapely.Point(positions[0]) if len(outline) == 1 else shapely.Polygon(positions)
