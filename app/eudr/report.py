"""A report on the files for the EUDR, without writing them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely

from app.downloads.files import no_room_error
from app.eudr.checking import PlotClock, read_plots
from app.eudr.grid import SQUARE_METERS, Grid, grid_degrees, linear_rings
from app.eudr.plots import Changes, EudrOptions, Finding, RecordPlots, finding_about
from app.eudr.writer import PlotStore, plot_store, whole_problems
from app.formats.writers.features import Feature
from app.geometry.polygons import polygon_rings
from app.geometry.shapes import Shape, common_area, shape_of
from app.http.errors import BadRequest, Detail
from app.policy.eudr import (
    COMPARISON_SECONDS,
    LISTED,
    OVERLAP_POSITIONS,
    REPORT_PLOTS,
    REPORT_SECONDS,
)
from app.policy.request_limits import OVERLAP_M2
from app.values.batching import batched_by_bytes
from app.values.formats import format_in

CACHED_POSITIONS: Final = 100_000  # in shapes that are kept while plots are compared
_NUMBERS: Final = ("files", "records", "features", "plots", "points", "producers", "bytes")
_PAIRS: Final = 500_000  # in memory at a time: all plots may be in the same place


class Findings:
    """Problems or warnings: the number of each code, and the first LISTED of each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.listed: list[Finding] = []

    def add(self, findings: list[Finding]) -> None:
        for finding in findings:
            self.counts[finding.code] += 1
            if self.counts[finding.code] <= LISTED:
                self.listed.append(finding)


@dataclass
class Report:
    """The files that would be written.

    Attributes:
        records: the number of projects and points that the plots are of.
        changes: what the files have differently.
        files: their number; more than one only with ``divide``.
        others: the other plot of each listed warning of an overlap, in their order.
        is_complete: True if all plots were compared for overlaps.
    """

    records: int = 0
    changes: Changes = Changes()
    files: int = 0
    features: int = 0
    points: int = 0
    producers: int = 0
    bytes: int = 0
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)
    others: list[Finding] = field(default_factory=list)
    is_complete: bool = True

    @property
    def plots(self) -> int:
        """The number of polygons."""
        return self.features - self.points

    @property
    def is_ready(self) -> bool:
        return not self.problems.listed and self.features > 0


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
    report, comparison, clock = Report(), _Comparison(options), PlotClock(REPORT_SECONDS)
    try:
        with plot_store(folder) as store:
            for record in read_plots(features, options, clock):
                on_record(record)
                report.problems.add(record.problems)
                report.warnings.add(record.warnings)
                store.add(record.plots)
                report.records += bool(record.plots)
                report.changes = Changes(
                    *map(sum, zip(report.changes, record.changes, strict=True))
                )
                if not options.simplified:
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
    for warning, other in comparison.overlaps(PlotClock(COMPARISON_SECONDS)):
        report.warnings.add([warning])
        if len(report.others) < LISTED:
            report.others.append(other)
    report.is_complete = comparison.is_complete
    return report


def report_record(report: Report) -> dict[str, Any]:
    """A report as the API gives it."""
    return {
        "ready": report.is_ready,
        **{name: getattr(report, name) for name in _NUMBERS},
        "changes": report.changes._asdict(),
        "problems": [problem._asdict() for problem in report.problems.listed],
        "warnings": [warning._asdict() for warning in report.warnings.listed],
        "problem_counts": report.problems.counts,
        "warning_counts": report.warnings.counts,
        "overlaps_complete": report.is_complete,
    }


def _sum_up(report: Report, store: PlotStore, options: EudrOptions) -> None:
    """Add what concerns the files as a whole."""
    files = store.files(options)
    report.features, report.points = store.features, store.points
    report.producers, report.files = store.producers(), len(files)
    report.bytes = sum(file.bytes for file in files)
    report.problems.add(whole_problems(store, files, options))
    if options.variant == 1 and report.producers > 1 and not options.simplified:
        message = (
            f"The file has {report.producers:,} producers by name and country, as the Information "
            "System counts them. Variant 1 is for one: choose variant 2, or filter the plots."
        )
        report.warnings.add([Finding("several_producers", message)])


class _Comparison:
    """The plots of a report, to find out which of them overlap.

    Attributes:
        is_complete: True if all were compared.
    """

    def __init__(self, options: EudrOptions) -> None:
        self._are_parts_apart = options.holes == "split"  # a part may lie in a hole that is filled
        self._records: list[Feature] = []  # without geometries
        self._outlines: deque[Grid] = deque()
        self._geometries: Any = None  # points and polygons, in place of the outlines
        self._owners: list[int] = []  # the index of the record of each
        self._positions = 0
        self._shapes: dict[int, Shape] = {}  # by the index of a geometry
        self._cached_positions = 0
        self.is_complete = True

    def add(self, record: RecordPlots) -> None:
        """Add the plots of a record whose shape has no problem."""
        if any(problem.code == "breaks_at_six_decimals" for problem in record.problems):
            return
        outlines = [plot.outline for plot in record.plots]
        self._positions += sum(map(len, outlines))
        if self._positions > OVERLAP_POSITIONS:
            self.is_complete = False
            return
        properties = record.feature.properties
        names = {name: properties.get(name) for name in ("id", "name", "project_id")}
        self._outlines += outlines
        self._owners += [len(self._records)] * len(record.plots)
        self._records.append(Feature(None, names))

    def overlaps(self, clock: PlotClock) -> Iterator[tuple[Finding, Finding]]:
        """Yield a warning for each two records that overlap: at the later one, and at the first."""
        reported: set[tuple[int, int]] = set()
        for index, other in self._near(clock):
            pair = self._owners[index], self._owners[other]
            if pair in reported:
                continue
            if message := self._overlap(index, other):
                reported.add(pair)
                first, later = (self._records[owner] for owner in pair)
                text = message.format(first.properties["name"])
                yield finding_about(later, "overlap", text), finding_about(first, "overlap", text)

    def _near(self, clock: PlotClock) -> Iterator[tuple[int, int]]:
        """Yield the indexes of each two geometries whose boxes overlap, until the time is over."""
        if not self._outlines:
            return
        outlines = (self._outlines.popleft() for _ in range(len(self._outlines)))
        batches = batched_by_bytes(outlines, len, CACHED_POSITIONS)
        self._geometries = np.concatenate(list(map(_geometries, batches)))
        tree, number = shapely.STRtree(self._geometries), len(self._geometries)
        ranks = np.array(self._owners if self._are_parts_apart else range(number))
        step = 1 + _PAIRS // number
        for start in range(0, number, step):
            index, other = tree.query(self._geometries[start : start + step])
            is_later = ranks[start + index] < ranks[other]
            pairs = zip((start + index[is_later]).tolist(), other[is_later].tolist(), strict=True)
            for pair in chain([None], pairs):  # there may be none for long
                if clock.is_over:
                    self.is_complete = False
                    return
                if pair:
                    yield pair

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
        hectares = format_in("en").area(common / SQUARE_METERS)
        return (
            f"With its positions rounded to six decimals, it has {hectares} in common with “{{}}”."
        )

    def _shape(self, index: int) -> Shape:
        if index not in self._shapes:
            if self._cached_positions > CACHED_POSITIONS:
                self._shapes.clear()
                self._cached_positions = 0
            geometry = self._geometries[index]
            self._shapes[index] = shape_of(polygon_rings(geometry))
            self._cached_positions += shapely.get_num_coordinates(geometry)
        return self._shapes[index]


def _geometries(outlines: list[Grid]) -> Any:
    """An array of points and polygons."""
    sizes = np.array(list(map(len, outlines)))
    positions, is_point = grid_degrees(np.concatenate(outlines)), sizes == 1
    of_point = np.repeat(is_point, sizes)
    geometries = np.empty(len(outlines), object)
    geometries[is_point] = shapely.points(positions[of_point])
    geometries[~is_point] = shapely.polygons(linear_rings(positions[~of_point], sizes[~is_point]))
    return geometries
