"""The projects of an account whose areas overlap with a boundary.

The box index finds the candidates. Those that can overlap by most are compared first, so that the
largest overlaps are found even if there is no time for all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any, Final, NamedTuple, cast

import numpy as np
from sqlalchemy import Table, and_, bindparam

from app.api.expensive import expensive_work
from app.auth.principal import Principal
from app.auth.tenant import columns_among, columns_of
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import (
    box_values,
    fenced_rows,
    indexed_candidates,
    is_among_ids,
    overlaps_box,
)
from app.geometry import Boundary, Bounds
from app.geometry.bounding_boxes import max_common_area
from app.geometry.shapes import Shape, common_area, shape_of, stored_shape
from app.models import Project
from app.policy.request_limits import (
    EXPENSIVE_BODY_BYTES,
    OVERLAP_CANDIDATES,
    OVERLAP_M2,
    OVERLAPS_SECONDS,
    OVERLAPS_SHOWN,
    OVERLAY_SECONDS,
)
from app.projects.record import SIDES
from app.values import processor_clock
from app.values.batching import batched_by_bytes

_TABLE: Final = cast("Table", Project.__table__)
_READ: Final = ("id", "name", "area_m2", "stored_bytes", *SIDES)
_OWN: Final = CompiledQuery(
    columns_of(
        Project,
        Project.geometry,
        Project.area_m2,
        Project.west,
        Project.south,
        Project.east,
        Project.north,
    ).where(Project.id == bindparam("project_id"))
)
_SECONDS_PER_BYTE: Final = 50e-9  # to read a boundary
ROWS: Final = 100  # rows, and bytes of boundaries, in memory at a time
_BYTES: Final = 1024 * 1024


class Overlaps(NamedTuple):
    """The largest overlaps; ``is_complete`` if no candidate was left out."""

    records: list[dict[str, Any]]
    is_complete: bool


class _Target(NamedTuple):
    """The boundary whose overlaps are searched."""

    account_id: str
    project_id: str | None  # left out
    area_m2: int
    bounds: Bounds
    within: tuple[str, ...] | None  # ids of projects to compare; None: all


class _Candidate(NamedTuple):
    """A project, and the largest possible overlap in square meters."""

    at_most: float
    row: Any


def overlaps_of_project(principal: Principal, project_id: str) -> Overlaps:
    """The overlaps of a project; none where it has no boundary.

    Raises:
        ServiceUnavailable: there is much to compare, and too many requests are waiting.
    """
    account_id, within = principal.account_id, principal.project_ids
    row = _OWN.first(account_id=account_id, project_id=project_id)
    if row is None or row.geometry is None:
        return Overlaps([], True)
    target = _Target(account_id, project_id, row.area_m2, Bounds(*row[2:]), within)
    projects = _overlap_candidates(target)
    with _comparison_turn(projects, len(row.geometry)):
        return _largest_overlaps(target, stored_shape(row.geometry), projects)


def find_overlaps(principal: Principal, values: Mapping[str, Any]) -> Overlaps | None:
    """The overlaps of a checked geometry, if they were requested and it is valid.

    Args:
        values: the values of ``GeometryCheckSchema``.
    """
    boundary: Boundary | None = values["boundary"]
    if boundary is None or not values.get("overlaps"):
        return None
    bounds, area_m2 = boundary.bounds, boundary.area_m2
    account_id, within = principal.account_id, principal.project_ids
    target = _Target(account_id, values.get("project_id"), area_m2, bounds, within)
    projects = _overlap_candidates(target)
    with _comparison_turn(projects, len(boundary.text)):
        return _largest_overlaps(target, shape_of(boundary.rings), projects)


def _comparison_turn(compared: Sequence[_Candidate], size: int) -> Any:
    """The turn of a comparison with many bytes of boundaries."""
    size += sum(map(_stored_bytes, compared))
    return expensive_work() if size > EXPENSIVE_BODY_BYTES else nullcontext()


def _overlap_candidates(target: _Target) -> list[_Candidate]:
    """The projects whose boxes overlap, those that can overlap by most first; more than
    OVERLAP_CANDIDATES if there are others."""
    most = OVERLAP_CANDIDATES + 1
    rows = projects_in_box(
        target.account_id, target.bounds, most, besides=target.project_id, within=target.within
    )
    boxes = np.array([row[4:] for row in rows]).reshape(-1, 4)
    common = max_common_area(np.array(target.bounds), boxes)
    at_most = np.minimum(common, [row.area_m2 for row in rows])
    candidates = map(_Candidate, at_most.tolist(), rows)
    return sorted(candidates, key=lambda candidate: -candidate.at_most)


def projects_in_box(
    account_id: str,
    box: Bounds,
    most: int,
    *,
    besides: str | None = None,
    within: Sequence[str] | None = None,
) -> list[Any]:
    """At most ``most`` projects whose boxes overlap a box, without archived ones: rows with ``id``,
    ``name``, ``area_m2``, ``stored_bytes`` and the sides of the box.

    Args:
        besides: the id of a project to leave out.
        within: ids of projects to search; None: all.
    """
    dialect = reading_engine().dialect.name
    values = box_values(box, account_id, dialect)
    values |= {"account_id": account_id, "besides": besides or "", "most": most}
    if within is not None:
        values["within"] = within
    return _by_box(dialect, within is not None).all(**values)


@cache
def _by_box(dialect: str, is_limited: bool) -> CompiledQuery:
    near = indexed_candidates(_TABLE, dialect, "box", "account_id", SIDES)
    limits = [is_among_ids(_TABLE.c.id, "within")] if is_limited else []
    is_another = and_(*limits, _TABLE.c.status != "archived", _TABLE.c.id != bindparam("besides"))
    columns = [_TABLE.c[name] for name in ("account_id", *_READ)]
    rows = fenced_rows(columns, and_(near, overlaps_box(_TABLE, SIDES), is_another))
    return CompiledQuery(columns_among(rows, *_READ).limit(bindparam("most")))


def _largest_overlaps(target: _Target, shape: Shape, projects: Sequence[_Candidate]) -> Overlaps:
    """The largest overlaps that are found until the request has used OVERLAPS_SECONDS."""
    is_complete = len(projects) <= OVERLAP_CANDIDATES
    largest: list[tuple[int, str, Any]] = []  # a heap
    for candidate, text in _with_texts(target.account_id, projects):
        if len(largest) == OVERLAPS_SHOWN and candidate.at_most < largest[0][0]:
            break
        seconds_left = OVERLAPS_SECONDS - processor_clock.used()
        area = None
        if len(text) * _SECONDS_PER_BYTE < seconds_left:
            area = common_area(shape, stored_shape(text), min(seconds_left, OVERLAY_SECONDS))
        if area is None:
            is_complete = False
        elif area >= OVERLAP_M2:
            row = candidate.row
            entry = (min(round(area), row.area_m2, target.area_m2), row.id, row.name)
            push = heapq.heappushpop if len(largest) == OVERLAPS_SHOWN else heapq.heappush
            push(largest, entry)
        if seconds_left <= 0:
            break
    records = [
        _overlap_record(target, *entry) for entry in sorted(largest, key=lambda e: (-e[0], e[1]))
    ]
    return Overlaps(records, is_complete)


def _with_texts(
    account_id: str, projects: Sequence[_Candidate]
) -> Iterator[tuple[_Candidate, str]]:
    """Yield the candidates with their boundaries, without those that no longer have one."""
    for batch in batched_by_bytes(projects, _stored_bytes, _BYTES, ROWS):
        texts = boundary_texts(account_id, [candidate.row.id for candidate in batch])
        for candidate in batch:
            if text := texts.get(candidate.row.id):
                yield candidate, text


def _stored_bytes(candidate: _Candidate) -> int:
    return int(candidate.row.stored_bytes)


def boundary_texts(account_id: str, project_ids: Sequence[str]) -> dict[str, str]:
    """The boundaries of projects by their ids, without those that have none."""
    rows = _BY_ID.tuples(account_id=account_id, ids=project_ids)
    return {key: text for key, text in rows if text}


_BY_ID: Final = CompiledQuery(
    columns_of(Project, Project.id, Project.geometry).where(is_among_ids(_TABLE.c.id))
)


def _overlap_record(target: _Target, m2: int, project_id: str, name: str) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "name": name,
        "overlap_hectares": m2 / 10_000,
        "share": round(m2 / max(target.area_m2, 1), 6),
    }
