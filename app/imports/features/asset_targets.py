"""Assets of one project as targets of features.

A feature matches the asset with its external id, the asset that was exported as this feature, or
the asset with its name and location; with the match "name", the asset with its name.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
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
from app.imports.features.external_ids import ExternalIds, has_another
from app.imports.features.targets import (
    CannotImport,
    CannotUndo,
    Decision,
    Identity,
    Match,
    Matching,
    WrittenTarget,
    changed_columns,
    feature_identity,
    field_names,
    metadata_keys,
)
from app.models import Asset, Project
from app.values.clock import parse_time
from app.values.text import fold_text

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

# A folded name, and column and row of a grid of ``SAME_WITHIN``, None without a location.
_Cell = tuple[str, int | None, int | None]


@dataclass(slots=True)
class AssetMatcher:
    """Decides about the features of one layer.

    The external ids, names and locations of all assets are read once, other columns of an asset
    when it is compared.
    """

    project_id: str
    account_id: str
    match: Match
    repeated_names: Collection[str] = ()
    taken_ids: Container[str] = ()
    _by_name: dict[str, list[Any]] = field(default_factory=dict)
    _by_id: dict[str, Any] = field(default_factory=dict)
    _by_cell: dict[_Cell, list[Any]] = field(default_factory=dict)
    _seen: set[Identity] = field(default_factory=set)
    _matched: set[str] = field(default_factory=set)  # ids of assets
    _project_boundary: Rings | None = None
    _by_external_id: dict[str, str] = field(default_factory=dict)
    _external_ids: ExternalIds = field(init=False)

    def __post_init__(self) -> None:
        self._external_ids = ExternalIds("asset", self.match, self._with_external_id, _is_feature)
        for row in _ALL.all(account_id=self.account_id, project_id=self.project_id):
            if row.external_id is not None:
                self._by_external_id[row.external_id] = row.id
            if row.id not in self.taken_ids:
                name = fold_text(row.name)
                self._by_name.setdefault(name, []).append(row)
                self._by_id[row.id] = row
                self._by_cell.setdefault(_location_cell(name, row), []).append(row)

        project = _BOUNDARY.first(account_id=self.account_id, project_id=self.project_id)
        text = project and project.geometry  # no project: the import creates it
        self._project_boundary = None if text is None else stored_rings(text)

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        return replace(self._decide(candidate), outside=self._is_outside(candidate.location))

    def _is_outside(self, location: Point | None) -> bool | None:
        if location is None or self._project_boundary is None:
            return None
        return not contains_point(self._project_boundary, location.longitude, location.latitude)

    def _decide(self, candidate: Candidate) -> Decision:
        identity = feature_identity(candidate)
        if identity in self._seen:
            return Decision("same", candidate.name)
        target = self._external_ids.target(candidate, self._find_target)
        self._seen.add(identity)
        self._external_ids.add(candidate)
        if target is None:
            namesakes = fold_text(candidate.name) in self._by_name
            return Decision("new", candidate.name, is_namesake=namesakes)
        self._matched.add(target.id)
        changes = _asset_changes(target, candidate)
        names, keys = field_names(changes), metadata_keys(target, changes)
        is_changed = bool(changes) and self.match != "none"
        if not is_changed:
            return Decision("same", target.name, target.id, changes=names, metadata_changes=keys)
        return Decision("changed", candidate.name, target.id, changes=names, metadata_changes=keys)

    def free_name(self, name: str) -> str:
        return name

    def _find_target(self, candidate: Candidate) -> Any:
        """The asset that a feature changes or already is, regardless of external ids, or None."""
        name = fold_text(candidate.name)
        exported = self._by_id.get(candidate.own_id or "")
        if exported is not None and (self.match != "none" or fold_text(exported.name) == name):
            return self._find(exported.id)
        if ids := self._at(name, candidate):
            assets = [self._find(asset_id) for asset_id in ids[:_COMPARED]]
            same = (asset for asset in assets if asset and not changed_columns(asset, candidate))
            return next(same, assets[0])
        named = self._by_name.get(name, [])
        if self.match != "name" or candidate.is_numbered or not named:
            return None
        if len(named) > 1 or name in self.repeated_names:
            raise CannotImport("Several assets or features have this name.", "name")
        return self._find(named[0].id)

    def _at(self, name: str, candidate: Candidate) -> list[str]:
        """The ids of the unmatched assets with a feature's name and location."""
        cells = (self._by_cell.get(cell, ()) for cell in _nearby_cells(name, candidate.location))
        rows = (row for cell in cells for row in cell if row.id not in self._matched)
        near = (row for row in rows if _is_at_location(row, candidate.location))
        return sorted(row.id for row in near if not has_another(row, candidate))

    def _with_external_id(self, external_id: str) -> Any:
        asset_id = self._by_external_id.get(external_id)
        return None if asset_id is None else self._find(asset_id)

    def _find(self, asset_id: str) -> Any:
        return _find_asset(self.account_id, self.project_id, asset_id)


@dataclass(frozen=True, slots=True)
class AssetTargets:
    """The assets of a project, as ``Targets``. ``default_type``: of new assets without a type."""

    project_id: str
    default_type: str = DEFAULT_TYPE

    def matcher(self, matching: Matching) -> AssetMatcher:
        return AssetMatcher(self.project_id, *matching)

    def create(self, principal: Principal, candidate: Candidate, name: str) -> WrittenTarget:
        values = {"type": self.default_type, **candidate.values, "name": name}
        asset = create_asset(principal, self.project_id, location=candidate.location, **values)
        return WrittenTarget(asset["id"], name, parse_time(asset["updated_at"]), None)

    def prepare(self, account_id: str, candidate: Candidate, target_id: str) -> None:
        """Prepare nothing."""

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

    def prepare_undo(self, account_id: str, row: Any) -> None:
        """Prepare nothing."""

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


def _is_feature(target: Any, candidate: Candidate) -> bool:
    """True if an asset has the feature's name and location."""
    return fold_text(target.name) == fold_text(candidate.name) and _is_at_location(
        target, candidate.location
    )


def _find_asset(account_id: str, project_id: str, asset_id: str) -> Any:
    """The columns of an asset that are compared with a feature, or None."""
    return _ONE.first(account_id=account_id, project_id=project_id, asset_id=asset_id)


def _location_cell(name: str, place: Any) -> _Cell:
    if place is None or place.longitude is None:
        return name, None, None
    return name, round(place.longitude / SAME_WITHIN), round(place.latitude / SAME_WITHIN)


def _nearby_cells(name: str, location: Point | None) -> Iterator[_Cell]:
    """Yield the cells of assets near a location: its own and the eight around it."""
    _, column, row = cell = _location_cell(name, location)
    if column is None or row is None:
        yield cell
        return
    for right, up in product((-1, 0, 1), repeat=2):
        yield name, column + right, row + up


def _is_at_location(asset: Any, location: Point | None) -> bool:
    if location is None or asset.longitude is None:
        return location is None and asset.longitude is None
    east, north = asset.longitude - location.longitude, asset.latitude - location.latitude
    return bool(abs(east) <= SAME_WITHIN and abs(north) <= SAME_WITHIN)
