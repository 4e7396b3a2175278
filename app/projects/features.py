"""Reads and checks the features of a GeoJSON file that become projects, without a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from marshmallow import ValidationError

from app.api.resource_fields import input_field
from app.geometry import Boundary, GeometryInvalid, Problem, read_boundary
from app.policy.bounds import NAME_LENGTH
from app.policy.fields import PROJECT, Field
from app.projects.feature_text import feature_attributes, feature_name, field_properties
from app.values.text import unstorable

BATCH_FEATURES: Final = 50
BATCH_BYTES: Final = 8 * 1024 * 1024  # of boundaries, which are megabytes at times

_IMPORTED: Final = tuple(field for field in PROJECT if field.properties)
_METADATA: Final = next(field for field in PROJECT if field.name == "metadata")


@dataclass(frozen=True, slots=True)
class PropertyMapping:
    """Which properties of a feature are read as what.

    ``external_id`` is empty for a property with one of its usual names; ``attributes`` are those
    that become metadata, None for all that are not read as anything else.
    """

    name: str
    external_id: str = ""
    attributes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feature that can be imported; ``number`` is its position in the file, from 1."""

    number: int
    name: str
    values: dict[str, Any]  # of other fields, by their columns
    boundary: Boundary | None

    @property
    def external_id(self) -> str | None:
        found: str | None = self.values.get("external_id")
        return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a feature.

    ``name`` is that of the project, which may have a number behind the feature's; ``project_id`` is
    None where nothing was written. ``changes`` names the fields that changed; those of a project
    that stays the ``same`` are the ones in which its feature differs. ``is_namesake``: the project
    is new, and another one has had the feature's name before the import.
    """

    number: int
    name: str
    result: Literal["new", "changed", "same", "rejected"]
    project_id: str | None = None
    area_m2: int | None = None
    previous_area_m2: int | None = None
    changes: tuple[str, ...] = ()
    is_namesake: bool = False
    problems: tuple[Problem, ...] = ()


def prepare(number: int, feature: Any, mapping: PropertyMapping) -> Candidate | Outcome:
    """Read a parsed GeoJSON Feature; one that is not valid is rejected with all its problems.

    A feature whose geometry is null becomes a project without a boundary.
    """
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        fault = fault_of("not_a_feature", "This is not a GeoJSON Feature.", "type")
        return Outcome(number, "", "rejected", problems=(fault,))
    properties = feature.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    name = feature_name(properties, mapping.name)
    problems = [*_name_problems(name, mapping.name)]
    values = _values(properties, mapping, problems)
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


def fault_of(code: str, message: str, where: str) -> Problem:
    """A problem of a feature that is not one of a place in its geometry."""
    return Problem(code, message, None, None, None, None, where)


def _values(
    properties: dict[str, Any], mapping: PropertyMapping, problems: list[Problem]
) -> dict[str, Any]:
    """The values of the fields that are read from properties; what is wrong is added to
    ``problems``."""
    sources = field_properties(properties, mapping.name, _IMPORTED)
    if mapping.external_id:
        sources.pop("external_id", None)
        if properties.get(mapping.external_id) not in (None, ""):
            sources["external_id"] = mapping.external_id
    values = {
        field.stored_as: _value(field, source, properties[source], problems)
        for field in _IMPORTED
        if (source := sources.get(field.name))
    }
    used = {mapping.name, mapping.external_id, *sources.values()}
    if attributes := feature_attributes(properties, used, mapping.attributes):
        values[_METADATA.stored_as] = _metadata(attributes, problems)
    return values


def _boundary(feature: dict[str, Any]) -> Boundary | None:
    if "geometry" not in feature:
        message = "The feature has no `geometry`. Without a boundary, it must be `null`."
        raise GeometryInvalid([fault_of("missing_member", message, "geometry")])
    if feature["geometry"] is None:
        return None
    return read_boundary(feature["geometry"])


def _value(field: Field, source: str, value: Any, problems: list[Problem]) -> Any:
    """The value of a field from a property. Numbers are spelled out."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return input_field(field).deserialize(str(value) if is_number else value)
    except ValidationError as error:
        where = f"properties.{source}"
        problems += [fault_of("not_valid", str(message), where) for message in error.messages]
        return None


def _metadata(attributes: dict[str, Any], problems: list[Problem]) -> Any:
    """Attributes as the metadata of a project, with their values as they are."""
    try:
        return input_field(_METADATA).deserialize(attributes)
    except ValidationError as error:
        for message in error.messages:
            text = f"The other properties become metadata. {message} Choose some with --attribute."
            problems.append(fault_of("not_valid", text, "properties"))
        return None


def _name_problems(name: str, name_property: str) -> Iterator[Problem]:
    where = f"properties.{name_property}"
    if not name:
        yield fault_of("no_name", f"The property {name_property!r} has no name.", where)
    elif len(name) > NAME_LENGTH:
        yield fault_of("name_too_long", f"The name is longer than {NAME_LENGTH} characters.", where)
    if problem := unstorable(name):
        yield fault_of("not_storable", problem, where)
