"""Overlaps of the boundaries of a file with projects and with one another.

Neighboring features are compared together, so that few boundaries are in memory.
"""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from operator import itemgetter
from time import thread_time
from typing import Any, Final, NamedTuple, cast

import numpy as np
import shapely
from sqlalchemy import Table, bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.geometry import Bounds
from app.geometry.bounding_boxes import max_common_area
from app.geometry.shapes import Shape, common_area, stored_shape
from app.models import ImportFeature
from app.policy.imports import OVERLAPS
from app.policy.request_limits import OVERLAP_CANDIDATES, OVERLAP_M2
from app.projects.boundaries.overlaps import boundary_texts, projects_in_box
from app.values.batching import batched_by_bytes

_TABLE: Final = cast("Table", ImportFeature.__table__)
GROUP_SIZE: Final = 100  # features that are compared together
_PAIRS_AT_ONCE: Final = 10_000
CACHED_BYTES: Final = 8 * 1024 * 1024
_READ_BYTES: Final = 1024 * 1024  # at a time
_WAIT_SECONDS: Final = 2.0


class PlacedFeature(NamedTuple):
    """A feature whose boundary the import writes. ``size``: characters of the boundary.
    ``target_id``: the project whose boundary it replaces."""

    number: int
    name: str
    area_m2: int
    size: int
    bounds: Bounds
    target_id: str | None


class FileOverlaps(NamedTuple):
    """The overlaps of a file's features, as columns of their rows, by number. ``is_complete``:
    there was time to compare all."""

    columns: dict[int, dict[str, Any]]
    is_complete: bool


def find_overlaps(
    account_id: str,
    import_id: str,
    placed: Sequence[PlacedFeature],
    seconds: float,
    on_wait: Callable[[], None] = lambda: None,
) -> FileOverlaps:
    """Compare features with one another, and with projects whose boundaries stay.

    Args:
        seconds: of this thread's processor time; then the rest is left out.
        on_wait: called repeatedly while this takes long.
    """
    if not placed:
        return FileOverlaps({}, True)
    comparison = _Comparison(account_id, import_id, placed, _Deadline(seconds, on_wait))
    overlaps = defaultdict[int, _FeatureOverlaps](_FeatureOverlaps)
    for group in _neighbor_groups(comparison.boxes):
        if comparison.is_over():
            break
        for feature, other, m2 in comparison.common_areas(comparison.within_file(group)):
            overlaps[cast("int", feature.key)].add(m2, other)
            overlaps[cast("int", other.key)].add(m2, feature)
        for feature, project, m2 in comparison.common_areas(comparison.with_projects(group)):
            overlaps[cast("int", feature.key)].add(m2, project)
    areas = {feature.number: feature.area_m2 for feature in placed}
    columns = {
        number: feature_overlaps.columns(areas[number])
        for number, feature_overlaps in overlaps.items()
    }
    return FileOverlaps(columns, comparison.is_complete)


@dataclass
class _FeatureOverlaps:
    """The largest overlaps of a feature, and the square meters of those with projects."""

    largest: list[tuple[int, _Side]] = field(default_factory=list)
    projects_m2: int = 0

    def add(self, m2: int, other: _Side) -> None:
        self.largest = heapq.nlargest(OVERLAPS, [*self.largest, (m2, other)], key=itemgetter(0))
        if isinstance(other.key, str):
            self.projects_m2 += m2

    def columns(self, area_m2: int) -> dict[str, Any]:
        overlaps = [
            {
                **other.as_json(),
                "overlap_hectares": m2 / 10_000,
                "share": round(m2 / max(area_m2, 1), 6),
            }
            for m2, other in self.largest
        ]
        return {"overlaps": overlaps, "overlap_m2": self.projects_m2}


class _Deadline:
    """Ends after some processor time, and reports meanwhile that work goes on."""

    def __init__(self, seconds: float, on_wait: Callable[[], None]) -> None:
        self._end = thread_time() + seconds
        self._on_wait = on_wait
        self._next = time.monotonic() + _WAIT_SECONDS

    def is_over(self) -> bool:
        if time.monotonic() > self._next:
            self._on_wait()
            self._next = time.monotonic() + _WAIT_SECONDS
        return thread_time() > self._end


def _neighbor_groups(boxes: Any) -> Iterator[list[int]]:
    """Yield groups of indices of neighboring features, strip by strip, from south to north."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    strips = max(1, round((len(boxes) / GROUP_SIZE) ** 0.5))
    by_longitude = np.argsort(middles[:, 0], kind="stable")
    for strip in np.array_split(by_longitude, strips):
        upwards = strip[np.argsort(middles[strip, 1], kind="stable")].tolist()
        for start in range(0, len(upwards), GROUP_SIZE):
            yield upwards[start : start + GROUP_SIZE]


class _Side(NamedTuple):
    """A feature or project in an overlap. ``key``: the number of a feature, or id of a project."""

    key: int | str
    name: str
    area_m2: int
    size: int

    def as_json(self) -> dict[str, Any]:
        is_feature = isinstance(self.key, int)
        return {
            "project_id": None if is_feature else self.key,
            "number": self.key if is_feature else None,
            "name": self.name,
        }


_Pair = tuple[_Side, _Side]


class _Comparison:
    """Compares the features of one file. ``is_complete``: nothing was skipped so far."""

    def __init__(
        self, account_id: str, import_id: str, placed: Sequence[PlacedFeature], deadline: _Deadline
    ) -> None:
        self._account_id, self._import_id, self._deadline = account_id, import_id, deadline
        self.is_complete = True
        self.boxes = np.array([feature.bounds for feature in placed])
        self._sides = [_Side(*feature[:4]) for feature in placed]
        self._replaced = {feature.target_id for feature in placed}
        # Boxes past 180° are in the tree once more, 360° to the west.
        beyond = np.flatnonzero(self.boxes[:, 2] > 180)
        shifted = self.boxes[beyond] - (360, 0, 360, 0)
        self._index = np.append(np.arange(len(placed)), beyond)
        self._tree_boxes: Any = shapely.box(*np.concatenate((self.boxes, shifted)).T)
        self._tree = shapely.STRtree(self._tree_boxes)
        self._shapes: dict[int | str, Shape] = {}
        self._cached_bytes = 0

    def is_over(self) -> bool:
        """True if there is no time for the next pair."""
        if is_over := self._deadline.is_over():
            self.is_complete = False
        return is_over

    def within_file(self, group: Sequence[int]) -> Iterator[_Pair]:
        """Yield pairs of features whose boxes overlap, the first of the group."""
        in_group = np.flatnonzero(np.isin(self._index, group))
        query, hit = self._tree.query(self._tree_boxes[in_group])
        pairs = np.column_stack((self._index[in_group[query]], self._index[hit]))
        pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
        first, second = pairs.T
        is_likely = max_common_area(self.boxes[first], self.boxes[second]) >= OVERLAP_M2
        likely = pairs[is_likely]
        for chunk in np.array_split(likely, 1 + len(likely) // _PAIRS_AT_ONCE):
            for a, b in chunk.tolist():
                yield self._sides[a], self._sides[b]

    def with_projects(self, group: Sequence[int]) -> Iterator[_Pair]:
        """Yield pairs of a feature of the group and a project whose boxes overlap, without projects
        whose boundaries are replaced."""
        boxes = self.boxes[group]
        sides = boxes.min(axis=0)[:2], boxes.max(axis=0)[2:]
        box = Bounds(*np.concatenate(sides).tolist())
        rows = projects_in_box(self._account_id, box, OVERLAP_CANDIDATES + 1)
        if len(rows) > OVERLAP_CANDIDATES and len(group) > 1:
            middle = len(group) // 2
            yield from self.with_projects(group[:middle])
            yield from self.with_projects(group[middle:])
            return
        self.is_complete = self.is_complete and len(rows) <= OVERLAP_CANDIDATES
        rows = [row for row in rows if row.id not in self._replaced]
        if not rows:
            return
        project_boxes = np.array([row[4:] for row in rows])
        for index in group:
            is_likely = max_common_area(self.boxes[index], project_boxes) >= OVERLAP_M2
            for row_index in np.flatnonzero(is_likely).tolist():
                yield self._sides[index], _Side(*rows[row_index][:4])

    def common_areas(self, pairs: Iterable[_Pair]) -> Iterator[tuple[_Side, _Side, int]]:
        """Yield pairs with the square meters that they have in common, at least OVERLAP_M2."""
        for batch in batched_by_bytes(pairs, lambda pair: pair[0].size + pair[1].size, _READ_BYTES):
            self._load({side.key for pair in batch for side in pair})
            for side, other in batch:
                if self.is_over():
                    return
                a, b = self._shapes.get(side.key), self._shapes.get(other.key)
                area = common_area(a, b) if a and b else 0.0
                if area is None:
                    self.is_complete = False
                elif area >= OVERLAP_M2:
                    yield side, other, min(round(area), side.area_m2, other.area_m2)

    def _load(self, keys: Set[int | str]) -> None:
        """Load these shapes into the cache, and empty it first if it is full."""
        if self._cached_bytes > CACHED_BYTES:
            shapes = {key: self._shapes[key] for key in keys & self._shapes.keys()}
            self._shapes, self._cached_bytes = shapes, 0
        missing = keys - self._shapes.keys()
        project_ids = [key for key in missing if isinstance(key, str)]
        numbers = [key for key in missing if isinstance(key, int)]
        texts: dict[Any, str] = {}
        if project_ids:
            texts |= boundary_texts(self._account_id, project_ids)
        if numbers:
            texts |= self._feature_texts(numbers)
        for key, text in texts.items():
            self._shapes[key] = stored_shape(text)
            self._cached_bytes += len(text)

    def _feature_texts(self, numbers: Sequence[int]) -> dict[int, str]:
        values = {"account_id": self._account_id, "import_id": self._import_id}
        rows = _GEOMETRIES.tuples(**values, ids=numbers)
        return {number: text for number, text in rows if text}


_GEOMETRIES: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number, ImportFeature.geometry).where(
        ImportFeature.import_id == bindparam("import_id"), is_among_ids(_TABLE.c.number)
    )
)
