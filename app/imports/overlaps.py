"""The areas that the boundaries of a file have in common with projects and with one another.

Features that lie next to each other are compared together, so that few boundaries are in memory.
"""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from time import thread_time
from typing import Any, Final, NamedTuple, cast

import numpy as np
import shapely
from sqlalchemy import Table, bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, engine
from app.db.search_index import id_values, is_among_ids
from app.geometry import Bounds
from app.geometry.bounds import most_in_common
from app.geometry.shapes import Shape, common_area, stored_shape
from app.models import ImportFeature
from app.policy.bounds import OVERLAP_CANDIDATES, OVERLAP_M2
from app.policy.imports import OVERLAPS
from app.projects.boundaries.overlaps import boundary_texts, projects_in_box
from app.values.batching import batched_by_bytes

_TABLE: Final = cast("Table", ImportFeature.__table__)
_TOGETHER: Final = 100  # features
_LISTED: Final = 10_000  # pairs of boxes
_KEPT_BYTES: Final = 8 * 1024 * 1024  # of boundaries in memory
_READ_BYTES: Final = 1024 * 1024  # likewise at once
_WAIT_SECONDS: Final = 2.0


class PlacedFeature(NamedTuple):
    """A feature that a project becomes or is changed to. ``size``: characters of its boundary.
    ``target_id``: the project whose boundary it replaces."""

    number: int
    name: str
    area_m2: int
    size: int
    bounds: Bounds
    target_id: str | None


class FileOverlaps(NamedTuple):
    """The overlaps of the features of a file, as columns of their rows, by their numbers.
    ``is_complete``: there was time to compare all."""

    columns: dict[int, dict[str, Any]]
    is_complete: bool


def find_overlaps(
    account_id: str,
    import_id: str,
    placed: Sequence[PlacedFeature],
    seconds: float,
    on_wait: Callable[[], None] = lambda: None,
) -> FileOverlaps:
    """Compare features with the projects that the import leaves as they are, and with one another.

    Args:
        seconds: of this thread's processor time, after which the rest is left out.
        on_wait: called again and again while it takes long.
    """
    if not placed:
        return FileOverlaps({}, True)
    comparison = _Comparison(account_id, import_id, placed, _Clock(seconds, on_wait))
    found = defaultdict[int, _OfFeature](_OfFeature)
    for together in _neighbors(comparison.boxes):
        if comparison.is_over():
            break
        for one, other, m2 in comparison.common_areas(comparison.within_file(together)):
            found[cast("int", one.key)].add(m2, other)
            found[cast("int", other.key)].add(m2, one)
        for one, other, m2 in comparison.common_areas(comparison.with_projects(together)):
            found[cast("int", one.key)].add(m2, other)
    areas = {each.number: each.area_m2 for each in placed}
    columns = {number: each.columns(areas[number]) for number, each in found.items()}
    return FileOverlaps(columns, comparison.is_complete)


@dataclass
class _OfFeature:
    """The overlaps of a feature: the largest, and the square meters of those with projects."""

    largest: list[tuple[int, _Side]] = field(default_factory=list)
    of_projects_m2: int = 0

    def add(self, m2: int, other: _Side) -> None:
        self.largest = heapq.nlargest(OVERLAPS, [*self.largest, (m2, other)], key=itemgetter(0))
        if isinstance(other.key, str):
            self.of_projects_m2 += m2

    def columns(self, area_m2: int) -> dict[str, Any]:
        overlaps = [
            {
                **other.as_json(),
                "overlap_hectares": m2 / 10_000,
                "share": round(m2 / max(area_m2, 1), 6),
            }
            for m2, other in self.largest
        ]
        return {"overlaps": overlaps, "overlap_m2": self.of_projects_m2}


class _Clock:
    """Says when the time is over, and that it goes on."""

    def __init__(self, seconds: float, on_wait: Callable[[], None]) -> None:
        self._end = thread_time() + seconds
        self._on_wait = on_wait
        self._next = time.monotonic() + _WAIT_SECONDS

    def is_over(self) -> bool:
        if time.monotonic() > self._next:
            self._on_wait()
            self._next = time.monotonic() + _WAIT_SECONDS
        return thread_time() > self._end


def _neighbors(boxes: Any) -> Iterator[list[int]]:
    """Yield the indices of features that lie next to each other: of strips of the map, from south
    to north."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    strips = max(1, round((len(boxes) / _TOGETHER) ** 0.5))
    by_longitude = np.argsort(middles[:, 0], kind="stable")
    for strip in np.array_split(by_longitude, strips):
        upwards = strip[np.argsort(middles[strip, 1], kind="stable")].tolist()
        for start in range(0, len(upwards), _TOGETHER):
            yield upwards[start : start + _TOGETHER]


class _Side(NamedTuple):
    """A feature or a project, one side of an overlap; ``key``: its number or id."""

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
    """Compares the features of one file. ``is_complete``: all were compared so far."""

    def __init__(
        self, account_id: str, import_id: str, placed: Sequence[PlacedFeature], clock: _Clock
    ) -> None:
        self._account_id, self._import_id, self._clock = account_id, import_id, clock
        self.is_complete = True
        self.boxes = np.array([each.bounds for each in placed])
        self._sides = [_Side(*each[:4]) for each in placed]
        self._replaced = {each.target_id for each in placed}
        # The same place has longitudes a turn apart.
        beyond = np.flatnonzero(self.boxes[:, 2] > 180)
        turned = self.boxes[beyond] - (360, 0, 360, 0)
        self._index = np.append(np.arange(len(placed)), beyond)
        self._drawn: Any = shapely.box(*np.concatenate((self.boxes, turned)).T)
        self._tree = shapely.STRtree(self._drawn)
        self._shapes: dict[int | str, Shape] = {}
        self._size = 0  # of their texts

    def is_over(self) -> bool:
        """Whether there is no time for the next pair."""
        if is_over := self._clock.is_over():
            self.is_complete = False
        return is_over

    def within_file(self, together: Sequence[int]) -> Iterator[_Pair]:
        """Yield the pairs of features, the first one of some, whose boxes overlap."""
        own = np.flatnonzero(np.isin(self._index, together))
        one, other = self._tree.query(self._drawn[own])
        pairs = np.column_stack((self._index[own[one]], self._index[other]))
        pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
        first, second = pairs.T
        is_likely = most_in_common(self.boxes[first], self.boxes[second]) >= OVERLAP_M2
        likely = pairs[is_likely]
        for some in np.array_split(likely, 1 + len(likely) // _LISTED):
            for a, b in some.tolist():
                yield self._sides[a], self._sides[b]

    def with_projects(self, together: Sequence[int]) -> Iterator[_Pair]:
        """Yield the pairs of some features and projects whose boxes overlap, without projects whose
        boundaries are replaced."""
        boxes = self.boxes[together]
        sides = boxes.min(axis=0)[:2], boxes.max(axis=0)[2:]
        box = Bounds(*np.concatenate(sides).tolist())
        rows = projects_in_box(self._account_id, box, OVERLAP_CANDIDATES + 1)
        if len(rows) > OVERLAP_CANDIDATES and len(together) > 1:
            middle = len(together) // 2
            yield from self.with_projects(together[:middle])
            yield from self.with_projects(together[middle:])
            return
        self.is_complete = self.is_complete and len(rows) <= OVERLAP_CANDIDATES
        rows = [row for row in rows if row.id not in self._replaced]
        if not rows:
            return
        others = np.array([row[4:] for row in rows])
        for index in together:
            is_likely = most_in_common(self.boxes[index], others) >= OVERLAP_M2
            for each in np.flatnonzero(is_likely).tolist():
                yield self._sides[index], _Side(*rows[each][:4])

    def common_areas(self, pairs: Iterable[_Pair]) -> Iterator[tuple[_Side, _Side, int]]:
        """Yield the square meters that pairs have in common, where that counts."""
        for some in batched_by_bytes(pairs, lambda pair: pair[0].size + pair[1].size, _READ_BYTES):
            self._load({side.key for pair in some for side in pair})
            for one, other in some:
                if self.is_over():
                    return
                a, b = self._shapes.get(one.key), self._shapes.get(other.key)
                area = common_area(a, b) if a and b else 0.0
                if area is None:
                    self.is_complete = False
                elif area >= OVERLAP_M2:
                    yield one, other, min(round(area), one.area_m2, other.area_m2)

    def _load(self, keys: Set[int | str]) -> None:
        """Have these shapes in memory."""
        if self._size > _KEPT_BYTES:
            kept = keys & self._shapes.keys()
            self._shapes, self._size = {key: self._shapes[key] for key in kept}, 0
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
            self._size += len(text)

    def _feature_texts(self, numbers: Sequence[int]) -> dict[int, str]:
        dialect = engine().dialect.name
        values = {"account_id": self._account_id, "import_id": self._import_id}
        found = _geometries(dialect).tuples(**values, ids=id_values(numbers, dialect))
        return {number: text for number, text in found if text}


@cache
def _geometries(dialect: str) -> CompiledQuery:
    rows = columns_of(ImportFeature, ImportFeature.number, ImportFeature.geometry)
    return CompiledQuery(
        rows.where(
            ImportFeature.import_id == bindparam("import_id"),
            is_among_ids(_TABLE.c.number, dialect),
        )
    )
