"""Finding the project or asset that a feature becomes, changes, or already is.

The account is compared as committed; a matcher remembers what it decided about other features of
the same file.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from app.imports.features.candidates import Candidate
from app.imports.features.decisions import CannotImport, Decision, Match
from app.imports.features.metadata import changed_keys, changed_metadata
from app.values.folding import fold_text

_METADATA: Final = "metadata_json"


@dataclass
class RecordMatcher(ABC):
    """Decides about the features of one layer, in their order.

    A feature changes the project or asset with its external id or its name, as ``match`` says, or
    none. Folded names in ``repeated_names`` belong to several features, and match nothing.
    ``taken_ids`` are the projects or assets of other features of this import.
    """

    kind: ClassVar[str]  # "project" or "asset", for messages
    account_id: str
    match: Match
    repeated_names: Collection[str] = ()
    taken_ids: Container[str] = ()
    _seen: set[tuple[str, bytes]] = field(default_factory=set)
    _matched: set[str] = field(default_factory=set)  # ids of projects or assets
    _numbers: dict[str, int] = field(default_factory=dict)  # of features, by external id

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        identity = _feature_identity(candidate)
        if identity in self._seen:
            return Decision("same", candidate.name)
        target = self._target(candidate)
        if target is None:
            decision = self._decide_new(candidate)
        else:
            decision = self._decide_existing(candidate, target)
            self._matched.add(target.id)
        self._seen.add(identity)
        if candidate.external_id is not None:
            self._numbers[candidate.external_id] = candidate.number
        return decision

    def free_name(self, name: str) -> str:
        """Return a name for a new target: this one, followed by a number if it is in use."""
        return name

    @abstractmethod
    def changes(self, target: Any, candidate: Candidate) -> dict[str, Any]:
        """The columns of a target that its feature changes. What the feature lacks stays."""

    @abstractmethod
    def _with_id(self, target_id: str) -> Any:
        """The target with an id, or None."""

    @abstractmethod
    def _with_external_id(self, external_id: str) -> Any:
        """The target with an external id, or None."""

    @abstractmethod
    def _ids_named(self, name: str) -> Sequence[str]:
        """The ids of targets with a name, ignoring case, at least of two if there are several."""

    @abstractmethod
    def _placed(self, candidate: Candidate) -> Iterable[Any]:
        """Yield untaken targets with a feature's name and geometry."""

    @abstractmethod
    def _is_feature(self, target: Any, candidate: Candidate) -> bool:
        """True if a target has a feature's name and geometry."""

    def _decide_new(self, candidate: Candidate) -> Decision:
        is_namesake = bool(self._ids_named(candidate.name))
        return Decision("new", candidate.name, is_namesake=is_namesake)

    def _decide_existing(self, candidate: Candidate, target: Any) -> Decision:
        changes = self.changes(target, candidate)
        is_changed = bool(changes) and self.match != "none"
        return Decision(
            "changed" if is_changed else "same",
            changes.get("name", target.name) if is_changed else target.name,
            target.id,
            changes=tuple("metadata" if name == _METADATA else name for name in changes),
            metadata_changes=changed_keys(target.metadata_json, changes.get(_METADATA)),
        )

    def _target(self, candidate: Candidate) -> Any:
        """The target that a feature changes or already is; None for a new one.

        Raises:
            CannotImport: another target or feature has the feature's external id, or several have
                its name.
        """
        external_id, owner = candidate.external_id, None
        if external_id is not None:
            if other := self._numbers.get(external_id):
                raise CannotImport(f"Feature {other} has the same external id.", "external_id")
            owner = self._with_external_id(external_id)
        if owner and (self.match == "external_id" or self._is_feature(owner, candidate)):
            return owner
        target = self._exported(candidate) or self._same(candidate)
        if target is None and self.match == "name" and not candidate.is_numbered:
            target = self._namesake(candidate)
        if owner and (target is None or target.id != owner.id):
            hint = " To change it, match by external_id." if self.match == "none" else ""
            raise CannotImport(
                f"The {self.kind} {owner.id} ({owner.name}) already has this external id.{hint}",
                "external_id",
            )
        return target

    def _exported(self, candidate: Candidate) -> Any:
        """The target that was exported as a feature, or None. Without a match, it must still have
        the feature's name and geometry."""
        target = self._with_id(candidate.own_id) if candidate.own_id else None
        is_same = target and (self.match != "none" or self._is_feature(target, candidate))
        return target if is_same else None

    def _same(self, candidate: Candidate) -> Any:
        """The first untaken target with the feature's name and geometry, or None. One with all
        values of the feature is preferred."""
        first = None
        for target in self._placed(candidate):
            if not changed_columns(target, candidate):
                return target
            first = first or target
        return first

    def _namesake(self, candidate: Candidate) -> Any:
        """The target of the feature's name, or None."""
        named = self._ids_named(candidate.name)
        ids = [target_id for target_id in named if target_id not in self.taken_ids]
        if ids and fold_text(candidate.name) in self.repeated_names:
            raise CannotImport(
                "Several features have this name, so it is not clear which of them matches the "
                f"{self.kind} {ids[0]}. Match by external_id.",
                "name",
            )
        if len(ids) > 1:
            message = f"Several {self.kind}s have this name. Match by external_id."
            raise CannotImport(message, "name")
        return self._with_id(ids[0]) if ids else None

    def _is_taken(self, target_id: str) -> bool:
        return target_id in self._matched or target_id in self.taken_ids


def has_another_id(target: Any, candidate: Candidate) -> bool:
    """True if a target and a feature have different external ids."""
    return len({target.external_id, candidate.external_id} - {None}) > 1


def changed_columns(target: Any, candidate: Candidate) -> dict[str, Any]:
    """The values of a feature that differ from its target's, by column."""
    changes: dict[str, Any] = {}
    for column, value in candidate.columns.items():
        if column == _METADATA:
            if metadata := changed_metadata(target.metadata_json, value):
                changes[_METADATA] = metadata
        elif value != getattr(target, column):
            changes[column] = value
    return changes


def _feature_identity(candidate: Candidate) -> tuple[str, bytes]:
    """What features that are the same have in common: their name, and a digest of their values."""
    content = repr((candidate.geometry, sorted(candidate.columns.items())))
    name = "" if candidate.is_numbered else fold_text(candidate.name)
    return name, hashlib.sha256(content.encode()).digest()
