"""Finding the project that a feature becomes, changes, or already is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.geometry import Boundary, is_same_boundary
from app.imports.features import project_lookup
from app.imports.features.candidates import Candidate
from app.imports.features.decisions import CannotImport, Decision
from app.imports.features.matching import RecordMatcher, changed_columns, has_another_id
from app.policy.request_limits import NAME_LENGTH
from app.values.folding import fold_text
from app.values.text import slugify, unreserved_slug

_NAMESAKES: Final = 20  # projects of a name that are compared with a feature


@dataclass
class ProjectMatcher(RecordMatcher):
    """Decides about features that may be projects of an account."""

    kind = "project"
    # After a number and its slug: the next number that may be free.
    _next_numbers: dict[tuple[int, str], int] = field(default_factory=dict)
    _new_slugs: set[str] = field(default_factory=set)
    _first_free: dict[str, int] = field(default_factory=dict)  # by folded name: a project's number
    _changed: dict[str, int] = field(default_factory=dict)  # by project id: the feature's number

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
        while (slug := unreserved_slug(free)) and (
            slug in self._new_slugs or project_lookup.has_slug(self.account_id, slug)
        ):
            passed.append((number, slug))
            number = self._next_numbers.get((number, slug), number + 1)
            free = numbered_name(name, number)
        # Slugs of long names are cut off, so that several numbers share one.
        self._next_numbers |= dict.fromkeys(passed, number)
        return free

    def _decide_new(self, candidate: Candidate) -> Decision:
        name = self.free_name(candidate.name)
        if slug := unreserved_slug(name):
            self._new_slugs.add(slug)
        area_m2 = candidate.boundary.area_m2 if candidate.boundary else None
        return replace(super()._decide_new(candidate), name=name, area_m2=area_m2)

    def _decide_existing(self, candidate: Candidate, target: Any) -> Decision:
        decision = super()._decide_existing(candidate, target)
        before = after = target.area_m2
        if decision.verdict == "changed":
            other = self._changed.setdefault(target.id, candidate.number)
            if other != candidate.number:
                raise CannotImport(f"Feature {other} changes the same project.", "name")
            if candidate.boundary is not None and "geometry" in decision.changes:
                after = candidate.boundary.area_m2
        return replace(decision, area_m2=after, previous_area_m2=before)

    def _with_id(self, target_id: str) -> Any:
        return project_lookup.with_id(self.account_id, target_id)

    def _with_external_id(self, external_id: str) -> Any:
        return project_lookup.with_external_id(self.account_id, external_id)

    def _ids_named(self, name: str) -> Sequence[str]:
        return project_lookup.ids_named(self.account_id, name)

    def _placed(self, candidate: Candidate) -> Iterator[Any]:
        if candidate.boundary is None:
            yield from self._named(candidate)
            return
        boundary = candidate.boundary
        for near in project_lookup.with_box(self.account_id, boundary.bounds, candidate.name):
            if self._is_taken(near.id) or has_another_id(near, candidate):
                continue
            if not _has_name(near, candidate):
                continue
            project = self._with_id(near.id)
            if project is not None and _has_boundary(project, boundary):
                yield project

    def _named(self, candidate: Candidate) -> Iterator[Any]:
        """Yield projects of a feature's name, also followed by a number."""
        if not unreserved_slug(candidate.name):
            untaken = (each for each in self._ids_named(candidate.name) if not self._is_taken(each))
            yield from map(self._with_id, untaken)
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

    def _is_feature(self, target: Any, candidate: Candidate) -> bool:
        boundary = candidate.boundary
        return _has_name(target, candidate) and (
            boundary is None or _has_boundary(target, boundary)
        )


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


def _has_name(target: Any, candidate: Candidate) -> bool:
    """True if a project has the feature's name, also followed by a number."""
    return fold_text(target.name) == fold_text(candidate.name) or is_numbered(
        target.slug, candidate.name
    )


def _has_boundary(target: Any, boundary: Boundary) -> bool:
    return target.geometry is not None and is_same_boundary(target.geometry, boundary.text)
