"""The external ids of the features of a layer, and the projects or assets that have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.imports.features.candidates import Candidate
from app.imports.features.targets import CannotImport, Match


@dataclass(slots=True)
class ExternalIds:
    """Finds the owners of external ids.

    Args:
        kind: "project" or "asset", for messages.
        match: as in a matcher.
        find: returns the project or asset that has an external id, or None.
        is_feature: returns whether a project or asset is a feature, whatever ids they have.
    """

    kind: str
    match: Match
    find: Callable[[str], Any]
    is_feature: Callable[[Any, Candidate], bool]
    _numbers: dict[str, int] = field(default_factory=dict)  # of the features that have them

    def target(self, item: Candidate, find_otherwise: Callable[[Candidate], Any]) -> Any:
        """The project or asset that a feature changes or already is; None for a new one.

        Args:
            find_otherwise: looks for it by all else.

        Raises:
            CannotImport: another one, or another feature, has the external id of the feature.
        """
        owner = self._owner(item)
        if owner and (self.match == "external_id" or self.is_feature(owner, item)):
            return owner
        found = find_otherwise(item)
        if owner and (found is None or found.id != owner.id):
            hint = " To change it, match by external_id." if self.match == "none" else ""
            raise CannotImport(
                f"The {self.kind} {owner.id} ({owner.name}) already has this external id.{hint}",
                "external_id",
            )
        return found

    def add(self, item: Candidate) -> None:
        """Note a feature about which was decided."""
        if item.external_id is not None:
            self._numbers[item.external_id] = item.number

    def _owner(self, item: Candidate) -> Any:
        if item.external_id is None:
            return None
        if other := self._numbers.get(item.external_id):
            raise CannotImport(f"Feature {other} has the same external id.", "external_id")
        return self.find(item.external_id)


def has_another(target: Any, item: Candidate) -> bool:
    """Return whether a project or asset has another external id than a feature, which has one."""
    return bool(item.external_id) and target.external_id not in (None, item.external_id)
