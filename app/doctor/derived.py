"""Finding projects and assets with wrong derived data: columns, entries of the boundary history, or
shapes for maps."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

import orjson
from sqlalchemy import Connection, Table, func

from app.assets import derived as of_assets
from app.auth.tenant import select_of_all_accounts
from app.db.column_types import byte_length
from app.geometry import GeometryInvalid, read_boundary
from app.geometry.countries import country_of_box
from app.geometry.shapes import levels_of
from app.models import Asset, BoundaryEntry, BoundaryShape, Project
from app.policy.countries import DATA_VERSION
from app.projects import derived as of_projects
from app.projects.boundary_history.entries import StoredBoundary, is_entry_of

HISTORY: Final = "boundary history"
FORMER: Final = "bytes of former boundaries"
SHAPES: Final = "map shapes"
_BATCH: Final = 30  # rows; each of them can have megabytes
_PROJECTS: Final = cast("Table", Project.__table__)
_ASSETS: Final = cast("Table", Asset.__table__)
_ENTRIES: Final = select_of_all_accounts(
    *(BoundaryEntry.project_id, BoundaryEntry.account_id),
    *(BoundaryEntry.area_m2, BoundaryEntry.checksum, BoundaryEntry.simplified_at),
).where(BoundaryEntry.replaced_at.is_(None))
_WRONG_SIZES: Final = select_of_all_accounts(BoundaryEntry.project_id).where(
    BoundaryEntry.stored_bytes != func.coalesce(byte_length(BoundaryEntry.geometry), 0)
)
_SHAPES: Final = select_of_all_accounts(
    BoundaryShape.project_row, BoundaryShape.level, BoundaryShape.account_id, BoundaryShape.area_m2
)


class WrongRow(NamedTuple):
    """A row, and what is wrong: names of columns, HISTORY, FORMER or SHAPES."""

    table: str
    id: str
    account_id: str
    wrong: list[str]


def wrong_rows(connection: Connection, sample: int | None = None) -> Iterator[WrongRow]:
    """Compare projects and assets with what is derived from them, in the current transaction.

    Args:
        sample: number of random rows of each to compare. None: all, which may take minutes.
    """
    for projects in _row_batches(connection, _PROJECTS, sample):
        yield from _wrong_projects(connection, projects)
    for asset in (row for rows in _row_batches(connection, _ASSETS, sample) for row in rows):
        if wrong := _wrong_in_asset(asset):
            yield WrongRow("assets", asset.id, asset.account_id, wrong)


def _row_batches(
    connection: Connection, table: Table, sample: int | None
) -> Iterator[Sequence[Any]]:
    number = table.c.row
    rows = select_of_all_accounts(table).order_by(number)
    if table is _PROJECTS:
        rows = rows.where(table.c.deleted_at.is_(None))
    span = select_of_all_accounts(func.min(number), func.max(number), func.count())
    low, high, total = connection.execute(span.select_from(table)).one()
    if sample is not None and total > sample:
        for first in {random.randint(low, high) for _ in range(sample)}:  # noqa: S311 - no secret
            yield connection.execute(rows.where(number >= first).limit(1)).all()
        return
    last = -1
    while batch := connection.execute(rows.where(number > last).limit(_BATCH)).all():
        yield batch
        last = batch[-1].row


def _wrong_projects(connection: Connection, rows: Sequence[Any]) -> Iterator[WrongRow]:
    is_of_rows = BoundaryEntry.project_id.in_([row.id for row in rows])
    present = connection.execute(_ENTRIES.where(is_of_rows))
    entries = {(entry.account_id, entry.project_id): entry for entry in present}
    wrong_sizes = set(connection.scalars(_WRONG_SIZES.where(is_of_rows)))
    shapes: dict[int, dict[int, tuple[str, int]]] = defaultdict(dict)
    of_rows = _SHAPES.where(BoundaryShape.project_row.in_([row.row for row in rows]))
    for project, level, *others in connection.execute(of_rows):
        shapes[project][level] = others[0], others[1]
    for row in rows:
        wrong = _wrong_in_project(row, entries.get((row.account_id, row.id)), shapes[row.row])
        wrong += [FORMER] if row.id in wrong_sizes else []
        if wrong:
            yield WrongRow("projects", row.id, row.account_id, wrong)


def _wrong_in_project(row: Any, entry: Any, shapes: dict[int, tuple[str, int]]) -> list[str]:
    size = of_projects.stored_bytes(row.geometry, row.metadata)
    searched = of_projects.search_columns(row.name, row.description, row.external_id)
    derived = searched | {"stored_bytes": size}
    wrong = [name for name, value in derived.items() if getattr(row, name) != value]
    bounds = (row.west, row.south, row.east, row.north)
    if row.geometry is None:
        correct = {
            "area_m2 or bounds": (row.area_m2, *bounds) == (None,) * 5,
            HISTORY: entry is None,
            SHAPES: not shapes,
        }
        return wrong + [name for name, is_correct in correct.items() if not is_correct]
    try:
        boundary = read_boundary(orjson.loads(row.geometry))
    except (GeometryInvalid, orjson.JSONDecodeError):
        return [*wrong, "geometry"]
    # Another version of PROJ may differ in the last digit.
    difference = abs((row.area_m2 or 0) - boundary.area_m2)
    is_near = row.area_m2 is not None and difference <= max(1, boundary.area_m2 * 1e-9)
    area = row.area_m2 if is_near else boundary.area_m2
    is_recorded = entry and is_entry_of(entry, StoredBoundary(row.geometry, area))
    levels = levels_of(len(row.geometry), boundary.bounds)
    correct = {
        "area_m2": is_near,
        "bounds": bounds == boundary.bounds,
        "country": row.country_version != DATA_VERSION  # a job will update it
        or boundary.country in (row.country, False)
        or (row.country is None and country_of_box(boundary.bounds) is False),  # it took too long
        HISTORY: is_recorded,
        SHAPES: not is_recorded  # its repair makes them, too
        or entry.simplified_at is None  # a job will make them
        or shapes == dict.fromkeys(levels, (row.account_id, area)),
    }
    return wrong + [name for name, is_correct in correct.items() if not is_correct]


def _wrong_in_asset(row: Any) -> list[str]:
    derived: dict[str, Any] = of_assets.search_columns(row.name, row.external_id)
    try:
        point = [None, None] if row.location is None else orjson.loads(row.location)["coordinates"]
        derived |= {"longitude": point[0], "latitude": point[1]}
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ["location"]
    return [name for name, value in derived.items() if getattr(row, name) != value]
