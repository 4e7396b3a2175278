"""The features of an import on a map, page by page of their list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam

from app.api.expensive import answer_in_turn, expensive_work
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.geometry import Bounds
from app.geometry.shapes import map_shapes, pixels
from app.imports.features.mapping import shorten_value
from app.imports.listing import list_features, read_import, shapes_after
from app.imports.record import not_found
from app.models import Asset, ImportFeature, Project
from app.policy.imports import (
    FEATURES_MAP_BYTES,
    FEATURES_MAP_READ_BYTES,
    MAP_CLOSE_ROWS,
    MAP_CLOSER,
    MAP_OUTLINE_BYTES,
    MAP_PIXELS,
)
from app.policy.request_limits import MAP_LEVELS
from app.values.batching import batched_by_bytes
from app.values.strict_json import Fragment, dumps

_FEATURE: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.name, ImportFeature.geometry).where(
        ImportFeature.import_id == bindparam("import_id"),
        ImportFeature.number == bindparam("number"),
    )
)
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


class _DrawnGeometry(NamedTuple):
    """A geometry of a feature. ``part`` is its verdict, ``former`` for the geometry that it
    replaces, or ``fault`` for the place of a problem, which ``message`` describes."""

    record: Mapping[str, Any]
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
    ids = {"account_id": principal.account_id, "import_id": import_id, "number": number}
    if (row := _FEATURE.first(**ids)) is None:
        raise not_found()
    return row.name, row.geometry or ""


def features_on_map(
    principal: Principal, import_id: str, *, page: int, per_page: int, **filters: Any
) -> bytes:
    """A page of features as a GeoJSON FeatureCollection, simplified if they are large.

    Rejected features have the places of their faults. ``left_out`` is the number of features that
    do not fit.

    Args:
        filters: as in ``list_features``.

    Raises:
        NotFound: there is no such import.
        ServiceUnavailable: too many other requests wait.
    """
    read_import(principal, import_id)
    records, _ = list_features(principal, import_id, page=page, per_page=per_page, **filters)
    drawn, left_out = _read_geometries(principal.account_id, import_id, records)
    texts = _fit_geometries([geometry.text for geometry in drawn])
    features = [
        _drawn_feature(geometry, text)
        for geometry, text in zip(drawn, texts, strict=True)
        if text is not None
    ]
    left_out += texts.count(None)
    return dumps({"type": "FeatureCollection", "features": features, "left_out": left_out})


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
    rows = shapes_after(principal.account_id, import_id, number, **filters)
    rows, texts = _with_targets(principal.account_id, rows)
    level = _level_for(record["bbox"], record["progress"]["total"])
    shapes = [shapes.get(level) for shapes in map_shapes(texts, level, least=0)]
    shown = [
        shape or (text if len(text) <= MAP_OUTLINE_BYTES else None)
        for shape, text in zip(shapes, texts, strict=True)
    ]
    features = [
        {
            "type": "Feature",
            "geometry": Fragment(text),
            "properties": {
                "number": row.number,
                "name": shorten_value(row.name),
                "part": row.verdict,
                **({"is_left_out": True} if row.left_out else {}),
            },
        }
        for row, text in zip(rows, shown, strict=True)
        if text
    ]
    following = rows[-1].number if rows else None
    left_out = shown.count(None)
    collection = {"type": "FeatureCollection", "features": features}
    return dumps({**collection, "next": following, "left_out": left_out})


def _with_targets(account_id: str, rows: list[Any]) -> tuple[list[Any], list[str]]:
    """Rows with their geometries, or those of their projects and assets; empty without one. The
    last rows are missing if those are too large for one response."""
    ids = {row.target_id for row in rows if row.geometry is None and row.target_id}
    sizes = {row.id: row.stored_bytes for row in _SIZES.all(account_id=account_id, ids=list(ids))}
    fitting = batched_by_bytes(
        rows, lambda row: sizes.get(row.target_id, 0), FEATURES_MAP_READ_BYTES
    )
    rows = next(iter(fitting), [])
    found = _target_geometries(account_id, {row.target_id for row in rows} & ids)
    return rows, [row.geometry or found.get(row.target_id) or "" for row in rows]


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


def _read_geometries(
    account_id: str, import_id: str, records: Sequence[Mapping[str, Any]]
) -> tuple[list[_DrawnGeometry], int]:
    """Read FEATURES_MAP_READ_BYTES of geometries. Returns them, and the number of features that
    are left out."""
    left, drawn = FEATURES_MAP_READ_BYTES, list[_DrawnGeometry]()
    for index, record in enumerate(records):
        if left < 0:
            return drawn, len(records) - index
        for part, text in _geometry_texts(account_id, import_id, record):
            left -= len(text)
            drawn.append(_DrawnGeometry(record, part, text))
        drawn += _fault_points(record)
    return drawn, 0


def _geometry_texts(
    account_id: str, import_id: str, record: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield (part, text): the target's geometry, and the feature's, which replaces it."""
    ids = {"account_id": account_id, "import_id": import_id, "number": record["number"]}
    row = _FEATURE.first(**ids)
    new = None if row is None else row.geometry  # no row: the file is being read again
    target_id = record.get("project_id") or record.get("asset_id")
    present = _target_geometries(account_id, [target_id]).get(target_id) if target_id else None
    if new is not None and present is not None and _GEOMETRY_FIELDS.isdisjoint(record["changes"]):
        new = None
    if present is not None:
        yield record["verdict"] if new is None else "former", present
    if new is not None:
        yield record["verdict"], new


def _fault_points(record: Mapping[str, Any]) -> Iterator[_DrawnGeometry]:
    """Yield the places of a feature's problems that are on the map."""
    for problem in record["problems"]:
        position = problem["coordinates"]
        if position and abs(position[0]) <= 180 and abs(position[1]) <= 90:
            point = _POINT.format(*position[:2])
            yield _DrawnGeometry(record, "fault", point, problem["message"])


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


def _drawn_feature(drawn: _DrawnGeometry, text: str) -> dict[str, Any]:
    record = drawn.record
    return {
        "type": "Feature",
        "geometry": Fragment(text),
        "properties": {
            "number": record["number"],
            "name": record["name"],
            "part": drawn.part,
            "is_left_out": record["left_out"],
            "message": drawn.message,
        },
    }
