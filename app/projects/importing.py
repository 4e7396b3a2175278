"""Importing features into an account as projects, many in one transaction; the caller commits.

A project that is already present is not imported again, so that a file can be imported a second
time, or after an interruption. With ``match`` a feature changes the project that it belongs to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal

import orjson

from app.auth.principal import Principal
from app.db.extensions import db
from app.geometry import Boundary, is_same_boundary
from app.http.errors import Conflict, NotFound
from app.policy.bounds import NAME_LENGTH
from app.projects import existing
from app.projects.features import Candidate, Outcome, fault_of
from app.projects.service import create_project, update_project
from app.values.strict_json import dumps
from app.values.text import fold, slugify

_TRIES: Final = 5
_METADATA: Final = "metadata_json"

Match = Literal["external_id", "name"]
_Identity = tuple[str, str | None, bytes]  # what a feature is: its name, external id and boundary


class _Rejected(Exception):
    """A feature cannot be imported; ``field`` is what is in the way."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(slots=True)
class Import:
    """One import into one account.

    ``dry_run`` writes nothing: it remembers what it would have written. ``match`` says which
    project a feature changes: the one with its external id, or with its name; None: none. By name
    nothing is changed for ``repeated_names`` (``fold``), which several features have.
    """

    principal: Principal
    dry_run: bool = False
    match: Match | None = None
    repeated_names: Collection[str] = ()
    _next_numbers: dict[str, int] = field(default_factory=dict)  # by slug, where a name is in use
    _slugs: set[str] = field(default_factory=set)  # of new projects
    _written: set[_Identity] = field(default_factory=set)
    _external_ids: dict[str, int] = field(default_factory=dict)  # with the number of the feature
    _created: set[str] = field(default_factory=set)  # ids of projects

    def add(self, batch: Iterable[Candidate | Outcome]) -> list[Outcome]:
        """Import features in the caller's transaction; rejected ones stay as they are."""
        return [item if isinstance(item, Outcome) else self._add(item) for item in batch]

    def _add(self, item: Candidate) -> Outcome:
        identity = _identity(item)
        adds_nothing = item.boundary is None and slugify(item.name) in self._slugs
        if identity in self._written or adds_nothing:
            return Outcome(item.number, item.name, "same")
        try:
            target = self._target(item)
            outcome = self._create(item) if target is None else self._update(item, target)
        except _Rejected as error:
            fault = fault_of("conflict", str(error), error.field)
            return Outcome(item.number, item.name, "rejected", problems=(fault,))
        self._written.add(identity)
        if item.external_id is not None:
            self._external_ids[item.external_id] = item.number
        return outcome

    def _target(self, item: Candidate) -> Any:
        """The project that a feature changes, or that is this very feature; None for a new one.
        Raises _Rejected."""
        owner = self._owner_of_external_id(item)
        if owner and (self.match == "external_id" or _is_feature(owner, item)):
            return owner
        found = self._present(item)
        if found is None and self.match == "name":
            found = self._namesake(item)
        if owner and (found is None or found.id != owner.id):
            hint = "" if self.match else " Import with --update to change it."
            raise _Rejected(
                f"The project {owner.id} ({owner.name}) already has this external id.{hint}",
                "external_id",
            )
        return found

    def _owner_of_external_id(self, item: Candidate) -> Any:
        """The project that has a feature's external id. Raises _Rejected when that is another
        feature's."""
        if item.external_id is None:
            return None
        if other := self._external_ids.get(item.external_id):
            raise _Rejected(f"Feature {other} has the same external id.", "external_id")
        return existing.with_external_id(self.principal.account_id, item.external_id)

    def _present(self, item: Candidate) -> Any:
        """The project of this name, perhaps with a number behind it, with this very boundary.

        A feature without a boundary has nothing to add to a project of its name.
        """
        account_id = self.principal.account_id
        if item.boundary is None:
            slug = slugify(item.name)
            if slug:
                return existing.with_slug(account_id, slug)
            return next(iter(existing.named(account_id, item.name)), None)
        for found in existing.with_boundary(account_id, item.boundary):
            is_other = item.external_id and found.external_id not in (None, item.external_id)
            if found.id not in self._created and not is_other and _is_feature(found, item):
                return found
        return None

    def _namesake(self, item: Candidate) -> Any:
        """The project of the feature's name that was there before the import, or None. Raises
        _Rejected when the name does not say which."""
        found = existing.named(self.principal.account_id, item.name)
        found = [each for each in found if each.id not in self._created]
        if found and fold(item.name) in self.repeated_names:
            raise _Rejected(
                "Several features have this name, so it is not clear which of them matches the "
                f"project {found[0].id}. Match by external_id.",
                "name",
            )
        if len(found) > 1:
            raise _Rejected("Several projects have this name. Match by external_id.", "name")
        return found[0] if found else None

    def _update(self, item: Candidate, target: Any) -> Outcome:
        """Change a project as its feature says, where that is asked for."""
        area_m2, before = target.area_m2, target.area_m2
        values = _changes(target, item, self.match)
        names = tuple("metadata" if name == _METADATA else name for name in values)
        if not values or not self.match:
            return Outcome(item.number, target.name, "same", target.id, area_m2, before, names)
        if not self.dry_run:
            try:
                with db.session.begin_nested():
                    update_project(self.principal, target.id, values)
            except (Conflict, NotFound) as error:  # another request came in between
                raise _Rejected(error.message, "external_id") from None
        if boundary := values.get("geometry"):
            area_m2 = boundary.area_m2
        name = values.get("name", target.name)
        return Outcome(item.number, name, "changed", target.id, area_m2, before, names)

    def _create(self, item: Candidate) -> Outcome:
        is_namesake = self._has_namesake(item)
        for tries_left in reversed(range(_TRIES)):
            name = self._free_name(item.name)
            try:
                project_id = self._write(name, item)
            except Conflict as error:  # another request has used the slug or external id meanwhile
                if not tries_left or error.details[0].field != "slug":
                    raise _Rejected(error.message, error.details[0].field) from None
                continue
            area_m2 = item.boundary.area_m2 if item.boundary else None
            return Outcome(item.number, name, "new", project_id, area_m2, is_namesake=is_namesake)
        raise AssertionError("the last try returns or raises")

    def _write(self, name: str, item: Candidate) -> str | None:
        """Raises Conflict, and leaves the rest of the batch as it is."""
        if slug := slugify(name):
            self._slugs.add(slug)
        if self.dry_run:
            return None
        with db.session.begin_nested():
            project = create_project(
                self.principal, name=name, geometry=item.boundary, **item.values
            )
        self._created.add(str(project["id"]))
        return str(project["id"])

    def _has_namesake(self, item: Candidate) -> bool:
        """Whether a project that was there before the import has the feature's name."""
        named = existing.named(self.principal.account_id, item.name)
        return any(each.id not in self._created for each in named)

    def _free_name(self, name: str) -> str:
        """The name itself, or with a number behind it where its slug is in use."""
        base = slugify(name)
        if not base:  # the slug will be made of the project's id
            return name
        for number in count(self._next_numbers.get(base, 1)):
            candidate = numbered(name, number)
            if not self._has_slug(slugify(candidate)):
                break
            self._next_numbers[base] = number + 1
        return candidate

    def _has_slug(self, slug: str) -> bool:
        return slug in self._slugs or existing.has_slug(self.principal.account_id, slug)


def numbered(name: str, number: int) -> str:
    """``Riverside (2)``, and the name as it is for 1. A name so long that its slug would lose the
    number has it in front."""
    if number == 1:
        return name
    suffix = f" ({number})"
    start = name[: NAME_LENGTH - len(suffix)].rstrip()
    has_number = slugify(start + suffix).endswith(f"-{number}")
    return start + suffix if has_number else f"({number}) {start}"


def is_numbered(slug: str, name: str) -> bool:
    """Whether a slug is that of a name, with or without a number."""
    digits = re.search(r"-([0-9]{1,9})\Z", slug), re.match(r"([0-9]{1,9})-", slug)
    numbers = {1, *(int(found[1]) for found in digits if found)}
    return any(slug == slugify(numbered(name, number)) for number in numbers)


def _changes(target: Any, item: Candidate, match: Match | None) -> dict[str, Any]:
    """The columns of a project that its feature changes. Attributes that the feature does not have
    stay, and so does a boundary where it has none."""
    changes: dict[str, Any] = {}
    if match == "external_id" and not _is_name(target.name, item.name):
        changes["name"] = item.name
    if item.boundary is not None and not _has_boundary(target, item.boundary):
        changes["geometry"] = item.boundary
    for column, value in item.values.items():
        if column == _METADATA:
            known = orjson.loads(target.metadata_json or "{}")
            if (merged := known | orjson.loads(value)) != known:
                changes[_METADATA] = dumps(merged).decode()
        elif value != getattr(target, column):
            changes[column] = value
    return changes


def _is_name(name: str, wanted: str) -> bool:
    """Whether a project's name is that of a feature, or the same with a number behind it."""
    numbers = map(int, re.findall(r"[0-9]{1,9}", name))
    return name == wanted or any(name == numbered(wanted, number) for number in numbers)


def _is_feature(target: Any, item: Candidate) -> bool:
    """Whether a project has the feature's name and boundary."""
    same_name = fold(target.name) == fold(item.name) or is_numbered(target.slug, item.name)
    return same_name and (item.boundary is None or _has_boundary(target, item.boundary))


def _has_boundary(target: Any, boundary: Boundary) -> bool:
    return target.geometry is not None and is_same_boundary(target.geometry, boundary.text)


def _identity(item: Candidate) -> _Identity:
    text = item.boundary.text if item.boundary else ""
    return fold(item.name), item.external_id, hashlib.sha256(text.encode()).digest()
