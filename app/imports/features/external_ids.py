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
        find: returns the project or asset with an external id, or None.
        is_feature: returns True if a project or asset agrees with a feature, except for ids.
    """

    kind: str
    match: Match
    find: Callable[[str], Any]
    is_feature: Callable[[Any, Candidate], bool]
    _feature_numbers: dict[str, int] = field(default_factory=dict)  # by external id

    def target(self, candidate: Candidate, find_otherwise: Callable[[Candidate], Any]) -> Any:
        """The project or asset that a feature changes or already is; None for a new one.

        Args:
            find_otherwise: finds it without external ids.

        Raises:
            CannotImport: another target or feature has the feature's external id.
        """
        owner = self._owner(candidate)
        if owner and (self.match == "external_id" or self.is_feature(owner, candidate)):
            return owner
        target = find_otherwise(candidate)
        if owner and (target is None or target.id != owner.id):
            hint = " To change it, match by external_id." if self.match == "none" else ""
            raise CannotImport(
                f"The {self.kind} {owner.id} ({owner.name}) already has this external id.{hint}",
                "external_id",
            )
        return target

    def add(self, candidate: Candidate) -> None:
        """Remember the external id of a feature that was decided."""
        if candidate.external_id is not None:
            self._feature_numbers[candidate.external_id] = candidate.number

    def _owner(self, candidate: Candidate) -> Any:
        if candidate.external_id is None:
            return None
        if other := self._feature_numbers.get(candidate.external_id):
            raise CannotImport(f"Feature {other} has the same external id.", "external_id")
        return self.find(candidate.external_id)


def has_another(target: Any, candidate: Candidate) -> bool:
    """True if a target and a feature have different external ids."""
    return bool(candidate.external_id) and target.external_id not in (None, candidate.external_id)
