"""Assets of one project as targets of features.

A feature matches the asset with its external id, the asset that was exported as this feature, or
the asset with its name and location; with the match "name", the asset with its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import Any, Final

import orjson
from sqlalchemy import bindparam

from app.assets.service import create_asset, delete_asset, update_asset
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.geometry import SAME_WITHIN, Point, read_point
from app.geometry.rings import Rings, contains_point, stored_rings
from app.http.errors import NotFound
from app.imports.features.candidates import Candidate
from app.imports.features.decisions import CannotUndo, Decision, Match, WrittenTarget
from app.imports.features.matching import RecordMatcher, changed_columns, has_another_id
from app.models import Asset, Project
from app.values.clock import parse_time
from app.values.folding import fold_text

DEFAULT_TYPE: Final = "point_of_interest"
_COMPARED: Final = 20  # assets of the same name and place
_KEY_COLUMNS: Final = (Asset.id, Asset.external_id, Asset.name, Asset.longitude, Asset.latitude)
_IN_PROJECT: Final = Asset.project_id == bindparam("project_id")
_BOUNDARY: Final = CompiledQuery(
    columns_of(Project, Project.geometry).where(Project.id == bindparam("project_id"))
)
_ALL: Final = CompiledQuery(columns_of(Asset, *_KEY_COLUMNS).where(_IN_PROJECT).order_by(Asset.id))
_ONE: Final = CompiledQuery(
    columns_of(
        Asset,
        *_KEY_COLUMNS,
        Asset.type,
        Asset.status,
        Asset.location,
        Asset.metadata_json,
        Asset.updated_at,
    ).where(_IN_PROJECT, Asset.id == bindparam("asset_id"))
)

_CELL: Final = 6  # decimals of degrees: ten times as wide as ``SAME_WITHIN``
# A folded name, and the middle of a cell of a grid, None without a location.
_Cell = tuple[str, float | None, float | None]


@dataclass
class AssetMatcher(RecordMatcher):
    """Decides about features that may be assets of a project.

    The external ids, names and locations of all assets are read once, other columns of an asset
    when it is compared.
    """

    kind = "asset"
    project_id: str = field(kw_only=True)
    _by_name: dict[str, list[str]] = field(default_factory=dict)
    _by_cell: dict[_Cell, list[Any]] = field(default_factory=dict)
    _project_boundary: Rings | None = None
    _by_external_id: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in _ALL.all(account_id=self.account_id, project_id=self.project_id):
            if row.external_id is not None:
                self._by_external_id[row.external_id] = row.id
            if row.id not in self.taken_ids:
                name = fold_text(row.name)
                self._by_name.setdefault(name, []).append(row.id)
                (cell,) = _cells(name, row)
                self._by_cell.setdefault(cell, []).append(row)

        project = _BOUNDARY.first(account_id=self.account_id, project_id=self.project_id)
        text = project and project.geometry  # no project: the import creates it
        self._project_boundary = None if text is None else stored_rings(text)

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        location, outside = candidate.location, None
        if location is not None and self._project_boundary is not None:
            place = location.longitude, location.latitude
            outside = not contains_point(self._project_boundary, *place)
        return replace(super().decide(candidate), outside=outside)

    def changes(self, target: Any, candidate: Candidate) -> dict[str, Any]:
        return _asset_changes(target, candidate)

    def _with_id(self, target_id: str) -> Any:
        return _find_asset(self.account_id, self.project_id, target_id)

    def _with_external_id(self, external_id: str) -> Any:
        asset_id = self._by_external_id.get(external_id)
        return None if asset_id is None else self._with_id(asset_id)

    def _ids_named(self, name: str) -> Sequence[str]:
        return self._by_name.get(fold_text(name), ())

    def _placed(self, candidate: Candidate) -> Iterator[Any]:
        location = candidate.location
        cells = _cells(fold_text(candidate.name), location, SAME_WITHIN)
        ids = sorted(
            row.id
            for row in chain.from_iterable(self._by_cell.get(cell, ()) for cell in cells)
            if row.id not in self._matched
            and _is_at_location(row, location)
            and not has_another_id(row, candidate)
        )
        return filter(None, map(self._with_id, ids[:_COMPARED]))

    def _is_feature(self, target: Any, candidate: Candidate) -> bool:
        is_name = fold_text(target.name) == fold_text(candidate.name)
        return is_name and _is_at_location(target, candidate.location)


@dataclass(frozen=True, slots=True)
class AssetTargets:
    """Writes features as assets of a project. ``default_type``: of new assets without a type."""

    project_id: str
    default_type: str = DEFAULT_TYPE

    def matcher(self, account_id: str, *matching: Any) -> AssetMatcher:
        return AssetMatcher(account_id, *matching, project_id=self.project_id)

    def create(self, principal: Principal, candidate: Candidate, name: str) -> WrittenTarget:
        values = {"type": self.default_type, **candidate.columns, "name": name}
        asset = create_asset(principal, self.project_id, location=candidate.location, **values)
        return WrittenTarget(asset["id"], name, parse_time(asset["updated_at"]), None)

    def change(
        self, principal: Principal, candidate: Candidate, target_id: str, match: Match, ahead: Any
    ) -> WrittenTarget | None:
        """Change an asset. Returns None if nothing is left to change."""
        row = _find_asset(principal.account_id, self.project_id, target_id)
        if row is None:
            raise NotFound
        values = _asset_changes(row, candidate)
        if not values:
            return None
        before = {name: getattr(row, name) for name in values}
        asset = update_asset(principal, self.project_id, row.id, values)
        return WrittenTarget(row.id, asset.name, asset.updated_at, before)

    def undo(self, principal: Principal, row: Any, ahead: Any = None) -> None:
        asset = _find_asset(principal.account_id, self.project_id, row.target_id)
        if asset is None:
            if row.before is None:
                return
            raise CannotUndo("The asset was deleted after the import.")
        if asset.updated_at != row.written_at:
            raise CannotUndo("The asset was changed after the import.")
        if row.before is None:
            delete_asset(principal, self.project_id, row.target_id)
            return
        before = dict(row.before)
        if text := before.get("location"):
            before["location"] = read_point(orjson.loads(text))
        update_asset(principal, self.project_id, row.target_id, before, is_bounded=False)


def _asset_changes(target: Any, candidate: Candidate) -> dict[str, Any]:
    """The columns of an asset that its feature changes. What the feature lacks stays."""
    changes: dict[str, Any] = {}
    if target.name != candidate.name and not candidate.is_numbered:
        changes["name"] = candidate.name
    if candidate.location is not None and not _is_at_location(target, candidate.location):
        changes["location"] = candidate.location
    return changes | changed_columns(target, candidate)


def _find_asset(account_id: str, project_id: str, asset_id: str) -> Any:
    """The columns of an asset that are compared with a feature, or None."""
    return _ONE.first(account_id=account_id, project_id=project_id, asset_id=asset_id)


def _cells(name: str, place: Any, within: float = 0) -> set[_Cell]:
    """The cell of a place, and others with places that are ``within`` degrees of it."""
    if place is None or place.longitude is None:
        return {(name, None, None)}
    longitudes = place.longitude - within, place.longitude + within
    latitudes = place.latitude - within, place.latitude + within
    return {(name, round(x, _CELL), round(y, _CELL)) for x, y in product(longitudes, latitudes)}


def _is_at_location(asset: Any, location: Point | None) -> bool:
    if location is None or asset.longitude is None:
        return location is None and asset.longitude is None
    east, north = asset.longitude - location.longitude, asset.latitude - location.latitude
    return bool(abs(east) <= SAME_WITHIN and abs(north) <= SAME_WITHIN)
