"""Finding the project that a feature becomes, changes, or already is.

The account's projects are compared as committed; the matcher remembers what it decided about other
features of the same file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from app.geometry import Boundary, is_same_boundary
from app.imports.features import project_lookup
from app.imports.features.candidates import Candidate
from app.imports.features.external_ids import ExternalIds, has_another
from app.imports.features.targets import (
    CannotImport,
    Decision,
    Identity,
    Match,
    changed_columns,
    feature_identity,
    field_names,
    metadata_keys,
)
from app.policy.request_limits import NAME_LENGTH
from app.values.text import fold_text, slugify, unreserved_slug

_NAMESAKES: Final = 20  # projects of a name that are compared with a feature


@dataclass(slots=True)
class ProjectMatcher:
    """Decides about the features of one layer, in their order.

    A feature changes the project with its external id or its name, as ``match`` says, or none.
    Folded names in ``repeated_names`` belong to several features, and match nothing.
    ``taken_ids`` are projects of other features of this import.
    """

    account_id: str
    match: Match
    repeated_names: Collection[str] = ()
    taken_ids: Container[str] = ()
    # After a number and its slug: the next number that may be free.
    _next_numbers: dict[tuple[int, str], int] = field(default_factory=dict)
    _new_slugs: set[str] = field(default_factory=set)
    _seen: set[Identity] = field(default_factory=set)
    _matched: set[str] = field(default_factory=set)  # ids of projects
    _first_free: dict[str, int] = field(default_factory=dict)  # by folded name: a project's number
    _external_ids: ExternalIds = field(init=False)
    _changed: dict[str, int] = field(default_factory=dict)  # by project id: the feature's number

    def __post_init__(self) -> None:
        find = partial(project_lookup.with_external_id, self.account_id)
        self._external_ids = ExternalIds("project", self.match, find, _is_feature)

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        identity = feature_identity(candidate)
        if identity in self._seen:
            return Decision("same", candidate.name)
        target = self._external_ids.target(candidate, self._find_target)
        if target is None:
            decision = self._decide_new(candidate)
        else:
            decision = self._decide_existing(candidate, target)
            if decision.verdict == "changed":
                self._check_changed_once(candidate, target.id)
            self._matched.add(target.id)
        self._seen.add(identity)
        self._external_ids.add(candidate)
        return decision

    def changes(self, target: Any, candidate: Candidate) -> dict[str, Any]:
        """The columns of a project that its feature changes. What the feature lacks stays."""
        changes: dict[str, Any] = {}
        has_id = self.match == "external_id" or candidate.own_id == target.id
        if has_id and not candidate.is_numbered and not _is_name(target.name, candidate.name):
            changes["name"] = candidate.name
        if candidate.boundary is not None and not _has_boundary(target, candidate.boundary):
            changes["geometry"] = candidate.boundary
        return changes | changed_columns(target, candidate)

    def free_name(self, name: str) -> str:
        """Return the name, followed by a number if its slug is in use."""
        number, free, passed = 1, name, []
        # A name without a slug is free: the project gets a slug from its id.
        while (slug := unreserved_slug(free)) and self._is_in_use(slug):
            passed.append((number, slug))
            number = self._next_numbers.get((number, slug), number + 1)
            free = numbered_name(name, number)
        # Slugs of long names are cut off, so that several numbers share one.
        self._next_numbers |= dict.fromkeys(passed, number)
        return free

    def _is_in_use(self, slug: str) -> bool:
        return slug in self._new_slugs or project_lookup.has_slug(self.account_id, slug)

    def _decide_new(self, candidate: Candidate) -> Decision:
        name = self.free_name(candidate.name)
        if slug := unreserved_slug(name):
            self._new_slugs.add(slug)
        area_m2 = candidate.boundary.area_m2 if candidate.boundary else None
        is_namesake = bool(project_lookup.ids_named(self.account_id, candidate.name))
        return Decision("new", name, area_m2=area_m2, is_namesake=is_namesake)

    def _decide_existing(self, candidate: Candidate, target: Any) -> Decision:
        changes = self.changes(target, candidate)
        area_m2 = before = target.area_m2
        names, keys = field_names(changes), metadata_keys(target, changes)
        if not changes or self.match == "none":
            return Decision(
                "same", target.name, target.id, area_m2, before, names, metadata_changes=keys
            )
        if boundary := changes.get("geometry"):
            area_m2 = boundary.area_m2
        name = changes.get("name", target.name)
        return Decision("changed", name, target.id, area_m2, before, names, metadata_changes=keys)

    def _check_changed_once(self, candidate: Candidate, project_id: str) -> None:
        other = self._changed.setdefault(project_id, candidate.number)
        if other != candidate.number:
            raise CannotImport(f"Feature {other} changes the same project.", "name")

    def _find_target(self, candidate: Candidate) -> Any:
        """The project that a feature changes or already is, regardless of external ids, or None."""
        project = self._exported(candidate) or self._same(candidate)
        if project is None and self.match == "name" and not candidate.is_numbered:
            project = self._namesake(candidate)
        return project

    def _exported(self, candidate: Candidate) -> Any:
        """The project that was exported as this feature, or None. Without a match, its name and
        boundary must still be the feature's."""
        if not candidate.own_id:
            return None
        project = project_lookup.with_id(self.account_id, candidate.own_id)
        is_same = project and (self.match != "none" or _is_feature(project, candidate))
        return project if is_same else None

    def _same(self, candidate: Candidate) -> Any:
        """The first untaken project with the feature's name and boundary, or None. One with all
        values of the feature is preferred."""
        boundary, first = candidate.boundary, None
        projects = self._named(candidate) if boundary is None else self._at(candidate, boundary)
        for project in projects:
            if not changed_columns(project, candidate):
                return project
            first = first or project
        return first

    def _at(self, candidate: Candidate, boundary: Boundary) -> Iterator[Any]:
        for near in project_lookup.with_box(self.account_id, boundary.bounds, candidate.name):
            if self._is_taken(near.id) or has_another(near, candidate):
                continue
            if not _has_name(near, candidate):
                continue
            project = project_lookup.with_id(self.account_id, near.id)
            if project is not None and _has_boundary(project, boundary):
                yield project

    def _named(self, candidate: Candidate) -> Iterator[Any]:
        """Yield projects of a feature's name, also followed by a number."""
        if not unreserved_slug(candidate.name):
            for project_id in project_lookup.ids_named(self.account_id, candidate.name):
                if not self._is_taken(project_id):
                    yield project_lookup.with_id(self.account_id, project_id)
            return
        name = fold_text(candidate.name)
        number, left = self._first_free.get(name, 1), _NAMESAKES
        while left:
            slug = unreserved_slug(numbered_name(candidate.name, number))
            project = project_lookup.with_slug(self.account_id, slug) if slug else None
            if project is None:
                return
            if not self._is_taken(project.id):
                left -= 1
                yield project
            elif left == _NAMESAKES:
                self._first_free[name] = number + 1
            number += 1

    def _is_taken(self, project_id: str) -> bool:
        return project_id in self._matched or project_id in self.taken_ids

    def _namesake(self, candidate: Candidate) -> Any:
        """The project of the feature's name, or None."""
        named = project_lookup.ids_named(self.account_id, candidate.name)
        ids = [project_id for project_id in named if project_id not in self.taken_ids]
        if ids and fold_text(candidate.name) in self.repeated_names:
            raise CannotImport(
                "Several features have this name, so it is not clear which of them matches the "
                f"project {ids[0]}. Match by external_id.",
                "name",
            )
        if len(ids) > 1:
            raise CannotImport("Several projects have this name. Match by external_id.", "name")
        return project_lookup.with_id(self.account_id, ids[0]) if ids else None


def numbered_name(name: str, number: int) -> str:
    """``Riverside (2)``; the name itself for 1. In front of a long name whose slug would lose the
    number."""
    if number == 1:
        return name
    suffix = f" ({number})"
    start = name[: NAME_LENGTH - len(suffix)].rstrip()
    has_number = slugify(start + suffix).endswith(f"-{number}")
    return start + suffix if has_number else f"({number}) {start}"


def is_numbered(slug: str, name: str) -> bool:
    """True if a slug was made from a name, with or without a number."""
    digits = re.search(r"-([0-9]{1,9})\Z", slug), re.match(r"([0-9]{1,9})-", slug)
    numbers = {1, *(int(match[1]) for match in digits if match)}
    return any(slug == unreserved_slug(numbered_name(name, number)) for number in numbers)


def _is_name(project_name: str, name: str) -> bool:
    """True if a project has a feature's name, also followed by a number."""
    numbers = map(int, re.findall(r"[0-9]{1,9}", project_name))
    return project_name == name or any(project_name == numbered_name(name, n) for n in numbers)


def _is_feature(target: Any, candidate: Candidate) -> bool:
    """True if a project has the feature's name and boundary."""
    if not _has_name(target, candidate):
        return False
    return candidate.boundary is None or _has_boundary(target, candidate.boundary)


def _has_name(target: Any, candidate: Candidate) -> bool:
    """True if a project has the feature's name, also followed by a number."""
    return fold_text(target.name) == fold_text(candidate.name) or is_numbered(
        target.slug, candidate.name
    )


def _has_boundary(target: Any, boundary: Boundary) -> bool:
    return target.geometry is not None and is_same_boundary(target.geometry, boundary.text)
