"""Projects from the features of a GeoJSON file.

A feature is prepared, which needs no database, and then imported into an account, many in one
transaction; the caller commits. A project that is already present is not imported again, so that a
file can be imported a second time, or after an interruption.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import count
from typing import Any, Final, Literal

from marshmallow import ValidationError
from sqlalchemy import bindparam

from app.api.resource_fields import input_field
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.geometry import Boundary, GeometryInvalid, Problem, read_boundary
from app.http.errors import Conflict
from app.models import Project
from app.policy.bounds import NAME_LENGTH
from app.policy.fields import PROJECT, Field
from app.projects.feature_text import feature_description, feature_name, field_properties
from app.projects.service import create_project
from app.values.text import fold, slugify, unstorable

BATCH_FEATURES: Final = 50
BATCH_BYTES: Final = 8 * 1024 * 1024  # of boundaries, which are megabytes at times
_TRIES: Final = 5
_IMPORTED: Final = tuple(field for field in PROJECT if field.properties)

_SAME_BOUNDARY = columns_of(Project, Project.slug, Project.name).where(
    Project.area_m2 == bindparam("area_m2"), Project.geometry == bindparam("geometry")
)
_SAME_SLUG = columns_of(Project, Project.id).where(Project.slug == bindparam("slug"))
_SAME_NAME = columns_of(Project, Project.id).where(Project.name_key == bindparam("name_key"))
_READING = {
    statement: CompiledQuery(statement) for statement in (_SAME_BOUNDARY, _SAME_SLUG, _SAME_NAME)
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feature that can be imported; ``number`` is its position in the file, from 1."""

    number: int
    name: str
    values: dict[str, Any]  # of other fields, by their columns
    boundary: Boundary | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a feature.

    ``name`` is that of the project, which may have a number behind the feature's; ``project_id`` is
    None where nothing was written.
    """

    number: int
    name: str
    result: Literal["imported", "already_present", "rejected"]
    project_id: str | None = None
    area_m2: int | None = None
    problems: tuple[Problem, ...] = ()


def prepare(number: int, feature: Any, name_property: str) -> Candidate | Outcome:
    """Read a parsed GeoJSON Feature; one that is not valid is rejected with all its problems.

    A feature whose geometry is null becomes a project without a boundary.
    """
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        fault = _fault("not_a_feature", "This is not a GeoJSON Feature.", "type")
        return Outcome(number, "", "rejected", problems=(fault,))
    properties = feature.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    name = feature_name(properties, name_property)
    sources = field_properties(properties, name_property, _IMPORTED)
    description = feature_description(properties, {name_property, *sources.values()})
    problems = [*_text_problems(name, description, name_property)]
    values: dict[str, Any] = {"description": description}
    for field in _IMPORTED:
        if source := sources.get(field.name):
            values[field.stored_as] = _value(field, source, properties[source], problems)
    boundary = None
    try:
        boundary = _boundary(feature)
    except GeometryInvalid as error:
        problems += error.problems
    if problems:
        return Outcome(number, name, "rejected", problems=tuple(problems))
    return Candidate(number, name, values, boundary)


def batches(prepared: Iterable[Candidate | Outcome]) -> Iterator[list[Candidate | Outcome]]:
    """Features in lists that are short enough for one transaction: other writers wait for it."""
    batch: list[Candidate | Outcome] = []
    size = 0
    for item in prepared:
        batch.append(item)
        if isinstance(item, Candidate) and item.boundary is not None:
            size += len(item.boundary.text)
        if len(batch) >= BATCH_FEATURES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class Import:
    """One import into one account.

    ``dry_run`` writes nothing: it remembers what it would have written.
    """

    principal: Principal
    dry_run: bool = False
    _next_numbers: dict[str, int] = dataclass_field(
        default_factory=dict
    )  # by slug, where a name is in use
    _planned_slugs: set[str] = dataclass_field(default_factory=set)
    _planned: set[tuple[str, bytes]] = dataclass_field(
        default_factory=set
    )  # names with their boundaries

    def add(self, batch: Iterable[Candidate | Outcome]) -> list[Outcome]:
        """Import features in the caller's transaction; rejected ones stay as they are."""
        return [item if isinstance(item, Outcome) else self._add(item) for item in batch]

    def _add(self, item: Candidate) -> Outcome:
        for tries_left in reversed(range(_TRIES)):
            if self._is_present(item):
                return Outcome(item.number, item.name, "already_present")
            name = self._free_name(item.name)
            try:
                project_id = self._write(name, item)
            except Conflict:  # another request has used the slug meanwhile
                if not tries_left:
                    raise
                continue
            area_m2 = item.boundary.area_m2 if item.boundary else None
            return Outcome(item.number, name, "imported", project_id, area_m2)
        raise AssertionError("the last try returns or raises")

    def _is_present(self, item: Candidate) -> bool:
        """Whether the account has a project of this name with this very boundary.

        A feature without a boundary has nothing to add to a project of its name.
        """
        if item.boundary is None:
            slug = slugify(item.name)
            return self._has_slug(slug) if slug else bool(self._has_name(item.name))
        if (fold(item.name), _digest(item.boundary)) in self._planned:
            return True
        same = self._rows(
            _SAME_BOUNDARY, area_m2=item.boundary.area_m2, geometry=item.boundary.text
        )
        return any(
            fold(row.name) == fold(item.name) or is_numbered(row.slug, item.name) for row in same
        )

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
        return slug in self._planned_slugs or bool(self._rows(_SAME_SLUG, slug=slug))

    def _has_name(self, name: str) -> bool:
        return (fold(name), b"") in self._planned or bool(
            self._rows(_SAME_NAME, name_key=fold(name))
        )

    def _rows(self, statement: Any, **values: Any) -> list[Any]:
        """Rows of the account, with those that this transaction has written."""
        values["account_id"] = self.principal.account_id
        if self.dry_run:
            return _READING[statement].all(**values)
        return list(db.session.execute(statement, values))

    def _write(self, name: str, item: Candidate) -> str | None:
        """Raises Conflict, and leaves the rest of the batch as it is."""
        if self.dry_run:
            self._planned_slugs.add(slugify(name))
            self._planned.add((fold(item.name), _digest(item.boundary)))
            return None
        with db.session.begin_nested():
            project = create_project(
                self.principal, name=name, geometry=item.boundary, **item.values
            )
        return str(project["id"])


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


def _boundary(feature: dict[str, Any]) -> Boundary | None:
    if "geometry" not in feature:
        message = "The feature has no `geometry`; one without a boundary has `null` there."
        raise GeometryInvalid([_fault("missing_member", message, "geometry")])
    if feature["geometry"] is None:
        return None
    return read_boundary(feature["geometry"])


def _value(field: Field, source: str, value: Any, problems: list[Problem]) -> Any:
    """The value of a field from a property. Numbers are spelled out; what is wrong is added to
    ``problems``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return input_field(field).deserialize(str(value) if is_number else value)
    except ValidationError as error:
        where = f"properties.{source}"
        problems += [_fault("not_valid", str(message), where) for message in error.messages]
        return None


def _text_problems(name: str, description: str | None, name_property: str) -> Iterator[Problem]:
    where = f"properties.{name_property}"
    if not name:
        yield _fault("no_name", f"The property {name_property!r} holds no name.", where)
    elif len(name) > NAME_LENGTH:
        yield _fault("name_too_long", f"The name is longer than {NAME_LENGTH} characters.", where)
    for field_name, text in ((where, name), ("properties", description or "")):
        if problem := unstorable(text):
            yield _fault("not_storable", problem, field_name)


def _fault(code: str, message: str, where: str) -> Problem:
    return Problem(code, message, None, None, None, None, where)


def _digest(boundary: Boundary | None) -> bytes:
    return b"" if boundary is None else hashlib.sha256(boundary.text.encode()).digest()
