"""Finding the project that a feature becomes, changes, or already is.

An account's projects are compared as they are committed. The decisions about other features of the
same file are remembered here.
"""

from __future__ import annotations

import hashlib
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
    Match,
    changed_columns,
    field_names,
    metadata_keys,
)
from app.policy.bounds import NAME_LENGTH
from app.values.text import fold, slugify, unreserved_slug

_Identity = tuple[str, bytes]  # what a feature is: its name, and a digest of all else
_AHEAD: Final = 20  # projects of a name that are compared with a feature


@dataclass(slots=True)
class ProjectMatcher:
    """Decides about the features of one layer, in their order.

    ``match`` selects the project that a feature changes: the one with its external id, or with its
    name; "none": it changes none. Names in ``repeated_names`` (``fold``), which several features
    have, match nothing. ``taken`` are ids of projects that other features of this import are.
    """

    account_id: str
    match: Match
    repeated_names: Collection[str] = ()
    taken: Container[str] = ()
    # A number behind which all are in use, up to another one; by the slug that has it.
    _next_numbers: dict[tuple[int, str], int] = field(default_factory=dict)
    _slugs: set[str] = field(default_factory=set)  # of new projects
    _seen: set[_Identity] = field(default_factory=set)
    _own: set[str] = field(default_factory=set)  # likewise ``taken``, by features decided here
    _first_free: dict[str, int] = field(default_factory=dict)  # number of a project, by its name
    _external_ids: ExternalIds = field(init=False)
    _targets: dict[str, int] = field(
        default_factory=dict
    )  # of projects that change, with the number of the feature

    def __post_init__(self) -> None:
        find = partial(project_lookup.with_external_id, self.account_id)
        self._external_ids = ExternalIds("project", self.match, find, _is_feature)

    def decide(self, item: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport."""
        identity = _identity(item)
        if identity in self._seen:
            return Decision("same", item.name)
        target = self._external_ids.target(item, self._found)
        decision = self._new(item) if target is None else self._present(item, target)
        if decision.verdict == "changed":
            self._check_target(item, target.id)
        if target is not None:
            self._own.add(target.id)
        self._seen.add(identity)
        self._external_ids.add(item)
        return decision

    def changes(self, target: Any, item: Candidate) -> dict[str, Any]:
        """The columns of a project that its feature changes. Fields and a boundary that the feature
        lacks stay."""
        changes: dict[str, Any] = {}
        has_id = self.match == "external_id" or item.own_id == target.id
        if has_id and not item.is_numbered and not _is_name(target.name, item.name):
            changes["name"] = item.name
        if item.boundary is not None and not _has_boundary(target, item.boundary):
            changes["geometry"] = item.boundary
        return changes | changed_columns(target, item)

    def free_name(self, name: str) -> str:
        """The name itself, or followed by a number if its slug is in use."""
        number, candidate, passed = 1, name, []
        # Without a slug of its name, a project has one of its id.
        while (slug := unreserved_slug(candidate)) and self._is_in_use(slug):
            passed.append((number, slug))
            number = self._next_numbers.get((number, slug), number + 1)
            candidate = numbered(name, number)
        # Long names share their slugs, which are cut off, from some number on.
        self._next_numbers |= dict.fromkeys(passed, number)
        return candidate

    def _is_in_use(self, slug: str) -> bool:
        return slug in self._slugs or project_lookup.has_slug(self.account_id, slug)

    def _new(self, item: Candidate) -> Decision:
        name = self.free_name(item.name)
        if slug := unreserved_slug(name):
            self._slugs.add(slug)
        area_m2 = item.boundary.area_m2 if item.boundary else None
        is_namesake = bool(project_lookup.ids_named(self.account_id, item.name))
        return Decision("new", name, area_m2=area_m2, is_namesake=is_namesake)

    def _present(self, item: Candidate, target: Any) -> Decision:
        """Decide about a feature of an existing project."""
        changes = self.changes(target, item)
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

    def _check_target(self, item: Candidate, project_id: str) -> None:
        other = self._targets.setdefault(project_id, item.number)
        if other != item.number:
            raise CannotImport(f"Feature {other} changes the same project.", "name")

    def _found(self, item: Candidate) -> Any:
        """The project that a feature changes or already is, whatever its external id; None for a
        new one."""
        found = self._exported(item) or self._same(item)
        if found is None and self.match == "name" and not item.is_numbered:
            found = self._namesake(item)
        return found

    def _exported(self, item: Candidate) -> Any:
        """The project that was exported as this feature, unless it has changed into another one
        since."""
        found = project_lookup.with_id(self.account_id, item.own_id) if item.own_id else None
        return found if found and (self.match != "none" or _is_feature(found, item)) else None

    def _same(self, item: Candidate) -> Any:
        """A project with this name, perhaps followed by a number, and exactly this boundary, if the
        feature has one, which no other feature is. The first that has all its values; else the
        first."""
        boundary, first = item.boundary, None
        for found in self._named(item) if boundary is None else self._at(item, boundary):
            if not changed_columns(found, item):
                return found
            first = first or found
        return first

    def _at(self, item: Candidate, boundary: Boundary) -> Iterator[Any]:
        for near in project_lookup.with_box(self.account_id, boundary.bounds, item.name):
            if self._is_taken(near.id) or has_another(near, item) or not _has_name(near, item):
                continue
            found = project_lookup.with_id(self.account_id, near.id)
            if found is not None and _has_boundary(found, boundary):
                yield found

    def _named(self, item: Candidate) -> Iterator[Any]:
        """Some projects of a feature's name, perhaps followed by a number."""
        if not unreserved_slug(item.name):
            for project_id in project_lookup.ids_named(self.account_id, item.name):
                if not self._is_taken(project_id):
                    yield project_lookup.with_id(self.account_id, project_id)
            return
        name = fold(item.name)
        number, ahead = self._first_free.get(name, 1), _AHEAD
        while ahead:
            slug = unreserved_slug(numbered(item.name, number))
            found = project_lookup.with_slug(self.account_id, slug) if slug else None
            if found is None:
                return
            if not self._is_taken(found.id):
                ahead -= 1
                yield found
            elif ahead == _AHEAD:
                self._first_free[name] = number + 1
            number += 1

    def _is_taken(self, project_id: str) -> bool:
        return project_id in self._own or project_id in self.taken

    def _namesake(self, item: Candidate) -> Any:
        """The project of the feature's name, or None."""
        named = project_lookup.ids_named(self.account_id, item.name)
        found = [each for each in named if each not in self.taken]
        if found and fold(item.name) in self.repeated_names:
            raise CannotImport(
                "Several features have this name, so it is not clear which of them matches the "
                f"project {found[0]}. Match by external_id.",
                "name",
            )
        if len(found) > 1:
            raise CannotImport("Several projects have this name. Match by external_id.", "name")
        return project_lookup.with_id(self.account_id, found[0]) if found else None


def numbered(name: str, number: int) -> str:
    """``Riverside (2)``, or the name itself for 1. In front of a name so long that its slug would
    lose the number."""
    if number == 1:
        return name
    suffix = f" ({number})"
    start = name[: NAME_LENGTH - len(suffix)].rstrip()
    has_number = slugify(start + suffix).endswith(f"-{number}")
    return start + suffix if has_number else f"({number}) {start}"


def is_numbered(slug: str, name: str) -> bool:
    """True if a slug is that of a name, with or without a number."""
    digits = re.search(r"-([0-9]{1,9})\Z", slug), re.match(r"([0-9]{1,9})-", slug)
    numbers = {1, *(int(found[1]) for found in digits if found)}
    return any(slug == unreserved_slug(numbered(name, number)) for number in numbers)


def _is_name(name: str, wanted: str) -> bool:
    """True if a project's name is that of a feature, or the same followed by a number."""
    numbers = map(int, re.findall(r"[0-9]{1,9}", name))
    return name == wanted or any(name == numbered(wanted, number) for number in numbers)


def _is_feature(target: Any, item: Candidate) -> bool:
    """True if a project has the feature's name and boundary."""
    if not _has_name(target, item):
        return False
    return item.boundary is None or _has_boundary(target, item.boundary)


def _has_name(target: Any, item: Candidate) -> bool:
    """True if a project has the feature's name, perhaps followed by a number."""
    return fold(target.name) == fold(item.name) or is_numbered(target.slug, item.name)


def _has_boundary(target: Any, boundary: Boundary) -> bool:
    return target.geometry is not None and is_same_boundary(target.geometry, boundary.text)


def _identity(item: Candidate) -> _Identity:
    boundary = item.boundary.text if item.boundary else ""
    content = repr((boundary, sorted(item.values.items())))
    name = "" if item.is_numbered else fold(item.name)
    return name, hashlib.sha256(content.encode()).digest()
