"""The features of an import on a map, page by page of their list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple

from app.api.expensive import answer_in_turn, expensive_work
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.geometry import Bounds
from app.geometry.shapes import map_shapes, pixels
from app.imports.listing import list_features, read_import, shapes_after
from app.imports.record import not_found
from app.models import Asset, Project
from app.policy.imports import (
    FEATURES_MAP_BYTES,
    FEATURES_MAP_READ_BYTES,
    MAP_CLOSE_ROWS,
    MAP_CLOSER,
    MAP_OUTLINE_BYTES,
    MAP_PIXELS,
    MAP_ROWS,
)
from app.policy.request_limits import MAP_LEVELS
from app.values.batching import batched_by_bytes
from app.values.strict_json import Fragment, dumps

_SIZES: Final = CompiledQuery(
    columns_of(Project, Project.id, Project.stored_bytes).where(is_among_ids(Project.id.expression))
)
_BOUNDARIES: Final = CompiledQuery(
    columns_of(Project, Project.id, Project.geometry).where(is_among_ids(Project.id.expression))
)
_LOCATIONS: Final = CompiledQuery(
    columns_of(Asset, Asset.id, Asset.location).where(is_among_ids(Asset.id.expression))
)
_GEOMETRY_FIELDS: Final = frozenset({"geometry", "location"})
_POINT: Final = '{{"type":"Point","coordinates":[{},{}]}}'


class _Shape(NamedTuple):
    """A geometry of a feature. ``part`` is its verdict, ``former`` for the geometry that it
    replaces, or ``fault`` for the place of a problem, which ``message`` describes."""

    row: Any
    part: str
    text: str
    message: str | None = None


def shape_of_feature(principal: Principal, import_id: str, number: int) -> tuple[str, str]:
    """The name of a feature, and its geometry as GeoJSON text, which may be invalid; empty without
    one that can be drawn.

    Raises:
        NotFound: there is no such import, or no such feature.
    """
    read_import(principal, import_id)
    rows = shapes_after(principal.account_id, import_id, number - 1, 1)
    if not rows or rows[0].number != number:
        raise not_found()
    return rows[0].name, rows[0].geometry or ""


def page_on_map(
    principal: Principal, import_id: str, *, page: int, per_page: int, **filters: Any
) -> bytes:
    """A page of features as a GeoJSON FeatureCollection, simplified if they are large.

    Changed features have their former boundaries, rejected ones the places of their faults.
    ``left_out`` is the number of features that do not fit.

    Args:
        filters: as in ``list_features``.

    Raises:
        NotFound: there is no such import.
        ServiceUnavailable: too many other requests wait.
    """
    listed, _ = list_features(principal, import_id, page=page, per_page=per_page, **filters)
    records = {record["number"]: record for record in listed}
    after = min(records, default=0) - 1
    rows = shapes_after(principal.account_id, import_id, after, len(records), **filters)
    ids = {row.target_id for row in rows if row.target_id}
    rows, targets = _with_targets(principal.account_id, rows, ids)
    shapes = [
        shape
        for row in rows
        if row.number in records
        for shape in _shapes_of_feature(row, records[row.number], targets)
    ]
    texts = _fit_geometries([shape.text for shape in shapes])
    left_out = len(records) - len(rows) + texts.count(None)
    return _collection(shapes, texts, left_out=left_out)


def all_on_map(principal: Principal, import_id: str, number: int, **filters: Any) -> bytes:
    """The next features after a number as a GeoJSON FeatureCollection, simplified for a map of all.

    ``next`` is the number after which the next piece begins, or None. ``left_out`` is the number of
    features that have a geometry that is too large.

    Args:
        filters: as in ``list_features``, without pages.

    Raises:
        NotFound: there is no such import.
        ServiceUnavailable: too many other requests wait.
    """
    record = read_import(principal, import_id)
    answer_in_turn()
    rows = shapes_after(principal.account_id, import_id, number, MAP_ROWS, **filters)
    ids = {row.target_id for row in rows if row.target_id and row.geometry is None}
    rows, targets = _with_targets(principal.account_id, rows, ids)
    texts = [row.geometry or targets.get(row.target_id) or "" for row in rows]
    level = _level_for(record["bbox"], record["progress"]["total"])
    shown = [
        shape.get(level) or (text if len(text) <= MAP_OUTLINE_BYTES else None)
        for shape, text in zip(map_shapes(texts, level, least=0), texts, strict=True)
    ]
    shapes = [_Shape(row, row.verdict, text) for row, text in zip(rows, texts, strict=True)]
    following = rows[-1].number if rows else None
    return _collection(shapes, shown, next=following, left_out=shown.count(None))


def _collection(shapes: Sequence[_Shape], texts: Sequence[str | None], **members: Any) -> bytes:
    """A GeoJSON FeatureCollection of the shapes that have a text."""
    features = [
        {
            "type": "Feature",
            "geometry": Fragment(text),
            "properties": {
                "number": shape.row.number,
                "name": shape.row.name,
                "part": shape.part,
                "is_left_out": shape.row.left_out,
                "message": shape.message,
            },
        }
        for shape, text in zip(shapes, texts, strict=True)
        if text
    ]
    return dumps({"type": "FeatureCollection", "features": features, **members})


def _with_targets(
    account_id: str, rows: list[Any], ids: set[str]
) -> tuple[list[Any], dict[str, str | None]]:
    """Rows, and the geometries of projects and assets with these ids. The last rows are missing if
    all of these are too large for one response."""
    sizes = {row.id: row.stored_bytes for row in _SIZES.all(account_id=account_id, ids=list(ids))}
    fitting = batched_by_bytes(
        rows,
        lambda row: len(row.geometry or "") + sizes.get(row.target_id, 0),
        FEATURES_MAP_READ_BYTES,
    )
    rows = next(iter(fitting), [])
    return rows, _target_geometries(account_id, {row.target_id for row in rows} & ids)


def _target_geometries(account_id: str, ids: Collection[str]) -> dict[str, str | None]:
    """The geometries of projects and assets by their ids."""
    queries = (_BOUNDARIES, _LOCATIONS)
    rows = (query.tuples(account_id=account_id, ids=list(ids)) for query in queries)
    return dict(chain.from_iterable(rows))


def _level_for(bbox: Sequence[float] | None, features: int) -> int:
    """The level of shapes for a map of all features, which lie in this box."""
    if bbox is None:
        return MAP_LEVELS[0]
    west, south, east, north = bbox
    box = Bounds(west, south, west + (east - west) % 360, north)
    most = MAP_PIXELS * (MAP_CLOSER if features <= MAP_CLOSE_ROWS else 1)
    fitting = (level for level in reversed(MAP_LEVELS) if pixels(box, level) >= most)
    return next(fitting, MAP_LEVELS[0])


def _shapes_of_feature(
    row: Any, record: Mapping[str, Any], targets: Mapping[str, str | None]
) -> Iterator[_Shape]:
    """Yield the geometry of a feature, before it the one that it replaces, and the places of its
    problems that are on the map."""
    present = targets.get(row.target_id)
    if row.geometry and present and not _GEOMETRY_FIELDS.isdisjoint(record["changes"]):
        yield _Shape(row, "former", present)
    if text := row.geometry or present:
        yield _Shape(row, row.verdict, text)
    for problem in record["problems"]:
        position = problem["coordinates"]
        if position and abs(position[0]) <= 180 and abs(position[1]) <= 90:
            point = _POINT.format(*position[:2])
            yield _Shape(row, "fault", point, problem["message"])


def _fit_geometries(texts: Sequence[str]) -> list[str | None]:
    """Simplify geometries until they fit; None for those that do not."""
    if sum(map(len, texts)) <= FEATURES_MAP_BYTES:
        return list(texts)
    with expensive_work():
        for level in MAP_LEVELS:
            shapes = map_shapes(texts, level, least=0)
            simplified = [shape.get(level, text) for shape, text in zip(shapes, texts, strict=True)]
            sizes = list(accumulate(map(len, simplified)))
            if sizes[-1] <= FEATURES_MAP_BYTES:
                break
    return [
        text if size <= FEATURES_MAP_BYTES else None
        for text, size in zip(simplified, sizes, strict=True)
    ]
