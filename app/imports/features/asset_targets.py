"""Assets as targets of features, all in one project.

A feature matches the asset of its external id, the one that was exported as it, or the one of its
name and location; with the match "name" it changes the asset of its name.
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
from app.geometry.rings import Rings, contains, stored_rings
from app.http.errors import NotFound
from app.imports.features.candidates import Candidate
from app.imports.features.external_ids import ExternalIds, has_another
from app.imports.features.targets import (
    CannotImport,
    CannotUndo,
    Decision,
    Match,
    WrittenTarget,
    changed_columns,
    field_names,
    metadata_keys,
)
from app.models import Asset, Project
from app.values.clock import parse_time
from app.values.text import fold

DEFAULT_TYPE: Final = "point_of_interest"
_COMPARED: Final = 20  # assets of a name and place that are compared with a feature
_FOUND_BY: Final = (Asset.id, Asset.external_id, Asset.name, Asset.longitude, Asset.latitude)
_IN_PROJECT: Final = Asset.project_id == bindparam("project_id")
_BOUNDARY: Final = CompiledQuery(
    columns_of(Project, Project.geometry).where(Project.id == bindparam("project_id"))
)
_ALL: Final = CompiledQuery(columns_of(Asset, *_FOUND_BY).where(_IN_PROJECT).order_by(Asset.id))
_ONE: Final = CompiledQuery(
    columns_of(
        Asset,
        *_FOUND_BY,
        Asset.type,
        Asset.status,
        Asset.location,
        Asset.metadata_json,
        Asset.updated_at,
    ).where(_IN_PROJECT, Asset.id == bindparam("asset_id"))
)

# A name, and the cell of a grid of ``SAME_WITHIN`` around a location, or no location.
_Cell = tuple[str, int | None, int | None]


@dataclass(slots=True)
class AssetMatcher:
    """Decides about the features of one layer.

    The external ids, names and locations of the project's assets are read once, the rest of an
    asset when a feature is compared to it.
    """

    account_id: str
    project_id: str
    match: Match
    repeated_names: Collection[str] = ()
    taken: Container[str] = ()
    _by_name: dict[str, list[Any]] = field(default_factory=dict)
    _by_id: dict[str, Any] = field(default_factory=dict)
    _by_cell: dict[_Cell, list[Any]] = field(default_factory=dict)
    _seen: set[tuple[str, str, str]] = field(default_factory=set)
    _own: set[str] = field(default_factory=set)  # assets that features decided here are
    _boundary: Rings | None = None  # of the project
    _by_external_id: dict[str, str] = field(default_factory=dict)
    _external_ids: ExternalIds = field(init=False)

    def __post_init__(self) -> None:
        self._external_ids = ExternalIds("asset", self.match, self._with_external_id, _is_feature)
        for row in _ALL.all(account_id=self.account_id, project_id=self.project_id):
            if row.external_id is not None:
                self._by_external_id[row.external_id] = row.id
            if row.id not in self.taken:
                name = fold(row.name)
                self._by_name.setdefault(name, []).append(row)
                self._by_id[row.id] = row
                self._by_cell.setdefault(_cell(name, row), []).append(row)

        found = _BOUNDARY.first(account_id=self.account_id, project_id=self.project_id)
        text = found and found.geometry  # plots may be of a project that is not made yet
        self._boundary = None if text is None else stored_rings(text)

    def decide(self, item: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        return replace(self._decide(item), outside=self._is_outside(item.location))

    def _is_outside(self, location: Point | None) -> bool | None:
        if location is None or self._boundary is None:
            return None
        return not contains(self._boundary, location.longitude, location.latitude)

    def _decide(self, item: Candidate) -> Decision:
        name = "" if item.is_numbered else fold(item.name)
        location = item.location.text if item.location else ""
        identity = name, location, repr(sorted(item.values.items()))
        if identity in self._seen:
            return Decision("same", item.name)
        target = self._external_ids.target(item, self._found)
        self._seen.add(identity)
        self._external_ids.add(item)
        if target is None:
            namesakes = fold(item.name) in self._by_name
            return Decision("new", item.name, is_namesake=namesakes)
        self._own.add(target.id)
        changes = _asset_changes(target, item)
        names, keys = field_names(changes), metadata_keys(target, changes)
        is_changed = bool(changes) and self.match != "none"
        if not is_changed:
            return Decision("same", target.name, target.id, changes=names, metadata_changes=keys)
        return Decision("changed", item.name, target.id, changes=names, metadata_changes=keys)

    def free_name(self, name: str) -> str:
        return name

    def _found(self, item: Candidate) -> Any:
        """The asset that a feature changes or already is, whatever its external id; None for a new
        one."""
        name = fold(item.name)
        exported = self._by_id.get(item.own_id or "")
        if exported is not None and (self.match != "none" or fold(exported.name) == name):
            return self._find(exported.id)
        if there := self._at(name, item):
            found = [self._find(asset_id) for asset_id in there[:_COMPARED]]
            alike = (each for each in found if each and not changed_columns(each, item))
            return next(alike, found[0])
        named = self._by_name.get(name, [])
        if self.match != "name" or item.is_numbered or not named:
            return None
        if len(named) > 1 or name in self.repeated_names:
            raise CannotImport("Several assets or features have this name.", "name")
        return self._find(named[0].id)

    def _at(self, name: str, item: Candidate) -> list[str]:
        """The ids of the assets of a feature's name and location that no other feature is."""
        cells = (self._by_cell.get(cell, ()) for cell in _cells(name, item.location))
        rows = (row for cell in cells for row in cell if row.id not in self._own)
        there = (row for row in rows if _is_at(row, item.location))
        return sorted(row.id for row in there if not has_another(row, item))

    def _with_external_id(self, external_id: str) -> Any:
        asset_id = self._by_external_id.get(external_id)
        return None if asset_id is None else self._find(asset_id)

    def _find(self, asset_id: str) -> Any:
        return _find(self.account_id, self.project_id, asset_id)


@dataclass(frozen=True, slots=True)
class AssetTargets:
    """The assets of a project, as ``Targets``. ``default_type``: that of a new one that says
    none."""

    project_id: str
    default_type: str = DEFAULT_TYPE

    def matcher(
        self,
        account_id: str,
        match: Match,
        repeated_names: Collection[str] = (),
        taken: Container[str] = (),
    ) -> AssetMatcher:
        return AssetMatcher(account_id, self.project_id, match, repeated_names, taken)

    def create(self, principal: Principal, item: Candidate, name: str) -> WrittenTarget:
        values = {"type": self.default_type, **item.values, "name": name}
        made = create_asset(principal, self.project_id, location=item.location, **values)
        return WrittenTarget(made["id"], name, parse_time(made["updated_at"]), None)

    def prepare(self, account_id: str, item: Candidate, decision: Decision) -> None:
        """Prepare nothing."""

    def change(
        self,
        principal: Principal,
        item: Candidate,
        decision: Decision,
        match: Match,
        prepared: Any = None,
    ) -> WrittenTarget | None:
        """Change an asset. Returns None if there is nothing left to change."""
        found = _find(principal.account_id, self.project_id, decision.target_id or "")
        if found is None:
            raise NotFound
        values = _asset_changes(found, item)
        if not values:
            return None
        before = {name: getattr(found, name) for name in values}
        asset = update_asset(principal, self.project_id, found.id, values)
        return WrittenTarget(found.id, asset.name, asset.updated_at, before)

    def prepare_undo(self, account_id: str, row: Any) -> None:
        """Prepare nothing."""

    def undo(self, principal: Principal, row: Any, prepared: Any = None) -> None:
        found = _find(principal.account_id, self.project_id, row.target_id)
        if found is None:
            if row.before is None:
                return
            raise CannotUndo("The asset was deleted after the import.")
        if found.updated_at != row.written_at:
            raise CannotUndo("The asset was changed after the import.")
        if row.before is None:
            delete_asset(principal, self.project_id, row.target_id)
            return
        before = dict(row.before)
        if text := before.get("location"):
            before["location"] = read_point(orjson.loads(text))
        update_asset(principal, self.project_id, row.target_id, before, is_bounded=False)


def _asset_changes(target: Any, item: Candidate) -> dict[str, Any]:
    """The columns of an asset that its feature changes. Fields that the feature lacks stay."""
    changes: dict[str, Any] = {}
    if target.name != item.name and not item.is_numbered:
        changes["name"] = item.name
    if item.location is not None and not _is_at(target, item.location):
        changes["location"] = item.location
    return changes | changed_columns(target, item)


def _is_feature(target: Any, item: Candidate) -> bool:
    """True if an asset has the feature's name and location."""
    return fold(target.name) == fold(item.name) and _is_at(target, item.location)


def _find(account_id: str, project_id: str, asset_id: str) -> Any:
    """An asset with everything that a feature is compared to, or None."""
    return _ONE.first(account_id=account_id, project_id=project_id, asset_id=asset_id)


def _cell(name: str, place: Any) -> _Cell:
    if place is None or place.longitude is None:
        return name, None, None
    return name, round(place.longitude / SAME_WITHIN), round(place.latitude / SAME_WITHIN)


def _cells(name: str, location: Point | None) -> Iterator[_Cell]:
    """The cells of the assets of a name that may be at a location: its own and the eight around
    it."""
    _, column, row = cell = _cell(name, location)
    if column is None or row is None:
        yield cell
        return
    for right, up in product((-1, 0, 1), repeat=2):
        yield name, column + right, row + up


def _is_at(asset: Any, location: Point | None) -> bool:
    if location is None or asset.longitude is None:
        return location is None and asset.longitude is None
    differences = asset.longitude - location.longitude, asset.latitude - location.latitude
    return all(abs(each) <= SAME_WITHIN for each in differences)
