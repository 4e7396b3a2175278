"""The features of an import on a map, a page of their list at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam

from app.api.expensive import expensive_work
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.geometry.shapes import is_shown_whole, map_shapes
from app.imports.listing import list_features, read_import
from app.imports.record import not_found
from app.models import Asset, ImportFeature, Project
from app.policy.bounds import MAP_LEVELS
from app.policy.imports import FEATURES_MAP_BYTES, FEATURES_MAP_READ_BYTES
from app.values.strict_json import Fragment, dumps

_OWN: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.name, ImportFeature.geometry).where(
        ImportFeature.import_id == bindparam("import_id"),
        ImportFeature.number == bindparam("number"),
    )
)
_BOUNDARY: Final = CompiledQuery(
    columns_of(Project, Project.geometry).where(Project.id == bindparam("target_id"))
)
_LOCATION: Final = CompiledQuery(
    columns_of(Asset, Asset.location).where(Asset.id == bindparam("target_id"))
)
_SHAPES: Final = frozenset({"geometry", "location"})  # in the changes of a feature
_POINT: Final = '{{"type":"Point","coordinates":[{},{}]}}'


class _Drawn(NamedTuple):
    """A geometry of a feature. ``part`` is its verdict, or ``former`` for the one that it replaces,
    or ``fault`` for the place of a problem, which ``message`` describes."""

    record: Mapping[str, Any]
    part: str
    text: str
    message: str | None = None


def shape_of_feature(principal: Principal, import_id: str, number: int) -> tuple[str, str]:
    """The name of a feature, and its geometry as the text of GeoJSON, which may be invalid; empty:
    it has none that can be drawn.

    Raises:
        NotFound: there is no such import, or no such feature.
    """
    read_import(principal, import_id)
    ids = {"account_id": principal.account_id, "import_id": import_id, "number": number}
    if (row := _OWN.first(**ids)) is None:
        raise not_found()
    return row.name, row.geometry or ""


def features_on_map(
    principal: Principal, import_id: str, *, page: int, per_page: int, **wanted: Any
) -> bytes:
    """A page of the list of features as the text of a GeoJSON FeatureCollection, simplified where
    they are large. Rejected ones have the places of their faults. ``left_out`` is the number of
    features that did not fit.

    Args:
        wanted: as in ``list_features``.

    Raises:
        NotFound: there is no such import.
        ServiceUnavailable: too many other requests wait.
    """
    found = read_import(principal, import_id)
    records, _ = list_features(principal, import_id, page=page, per_page=per_page, **wanted)
    drawn, left_out = _read(principal.account_id, found, records)
    texts = _fitting([each.text for each in drawn])
    features = [
        _feature(each, text) for each, text in zip(drawn, texts, strict=True) if text is not None
    ]
    left_out += texts.count(None)
    return dumps({"type": "FeatureCollection", "features": features, "left_out": left_out})


def _read(
    account_id: str, found: Mapping[str, Any], records: Sequence[Mapping[str, Any]]
) -> tuple[list[_Drawn], int]:
    """The geometries of features until FEATURES_MAP_READ_BYTES were read, and the number of
    features that were left out."""
    left, drawn = FEATURES_MAP_READ_BYTES, list[_Drawn]()
    for place, record in enumerate(records):
        if left < 0:
            return drawn, len(records) - place
        for part, text in _texts(account_id, found, record):
            left -= len(text)
            drawn.append(_Drawn(record, part, text))
        drawn += _faults(record)
    return drawn, 0


def _texts(
    account_id: str, found: Mapping[str, Any], record: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The geometry of a feature and, below it, the one that it replaces; after it was written, the
    present one."""
    ids = {"account_id": account_id, "import_id": found["id"], "number": record["number"]}
    row = _OWN.first(**ids)
    own = None if row is None else row.geometry  # the file is read again at the moment
    now = _existing(account_id, record)
    if own is not None and now is not None and _SHAPES.isdisjoint(record["changes"]):
        own = None
    if now is not None:
        yield record["verdict"] if own is None else "former", now
    if own is not None:
        yield record["verdict"], own


def _existing(account_id: str, record: Mapping[str, Any]) -> str | None:
    """The geometry of the project or asset that a feature is, or None."""
    kind = record["kind"]
    target_id = record["project_id" if kind == "projects" else "asset_id"]
    if target_id is None:
        return None
    query = _BOUNDARY if kind == "projects" else _LOCATION
    row = query.first(account_id=account_id, target_id=target_id)
    return None if row is None else row[0]


def _faults(record: Mapping[str, Any]) -> Iterator[_Drawn]:
    """The places of a feature's problems, if they are on the map."""
    for problem in record["problems"]:
        place = problem["coordinates"]
        if place and abs(place[0]) <= 180 and abs(place[1]) <= 90:
            yield _Drawn(record, "fault", _POINT.format(*place[:2]), problem["message"])


def _fitting(texts: Sequence[str]) -> list[str | None]:
    """The geometries with as many positions as fit; None for those that do not fit."""
    if sum(map(len, texts)) <= FEATURES_MAP_BYTES:
        return list(texts)
    with expensive_work():
        return _simplified(texts)


def _simplified(texts: Sequence[str]) -> list[str | None]:
    shapes = map_shapes(texts)
    for level in MAP_LEVELS:
        found = [_at(text, of, level) for text, of in zip(texts, shapes, strict=True)]
        if sum(map(len, found)) <= FEATURES_MAP_BYTES:
            return list(found)
    left, fitting = FEATURES_MAP_BYTES, list[str | None]()
    for text in found:
        left -= len(text)
        fitting.append(text if left >= 0 else None)
    return fitting


def _at(text: str, shapes: Mapping[int, str], level: int) -> str:
    """A geometry at a level; if it is too small for it, at the next finer level, or whole."""
    if is_shown_whole(len(text), level):
        return text
    finer = [each for each in MAP_LEVELS if each >= level and each in shapes]
    return shapes[min(finer)] if finer else text


def _feature(drawn: _Drawn, text: str) -> dict[str, Any]:
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
