"""Checks the features of a file that become projects or assets, without a database."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from marshmallow import ValidationError

from app.api.resource_fields import input_field
from app.formats.features import SourceFeature
from app.formats.writers.features import FEATURE_TYPES, FeatureType
from app.geometry import (
    Boundary,
    Bounds,
    GeometryInvalid,
    Point,
    Problem,
)
from app.geometry.problems import whole_problem
from app.geometry.rings import stored_rings
from app.imports.features.geometries import Note, boundary_of, is_empty, location_of
from app.imports.features.mapping import ColumnMapping, mapped_fields
from app.imports.features.outlines import outline
from app.policy.bounds import NAME_LENGTH, VOCABULARY_PATTERN
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.kinds import KEYWORD
from app.values.ids import is_id
from app.values.strict_json import JsonInvalid, loads
from app.values.text import has_control, line_problem, with_line_feeds

_FIELDS: Final = {
    "projects": {field.name: field for field in PROJECT},
    "assets": {field.name: field for field in ASSET},
}
_LINE_BREAKS: Final = re.compile(r"[ \t]*[\t\n\v\f\r\x85\u2028\u2029]\s*")
_CONTROLS: Final = (
    "Has control characters, which cannot be shown. Remove them from the file, or leave out this "
    "column."
)


@dataclass(frozen=True, slots=True)
class Choices:
    """How the features of a layer are read.

    ``default_name`` is the name of features that have none, with a number behind it.
    ``ignored`` are columns that become nothing. ``is_export``: the file was exported from here.
    ``close_lines``: closed lines and tracks become boundaries. ``project_id`` is that of the
    project that assets are imported into.
    """

    kind: str
    mapping: ColumnMapping
    default_name: str = ""
    ignored: Collection[str] = ()
    is_export: bool = False
    close_lines: bool = False
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feature that can be imported; ``number`` is its position in the layer, from 1.

    ``values`` are those of fields other than the name, by their columns. ``own_id`` is that of the
    project or asset that was exported as this feature. ``is_numbered``: it has no name of its own,
    and ``name`` is that of its layer with its number.
    """

    number: int
    name: str
    values: dict[str, Any]
    boundary: Boundary | None = None
    location: Point | None = None
    own_id: str | None = None
    is_numbered: bool = False

    @property
    def bounds(self) -> Bounds | None:
        """The box around its boundary or location; None if it has neither."""
        if self.location is not None:
            longitude, latitude = self.location.longitude, self.location.latitude
            return Bounds(longitude, latitude, longitude, latitude)
        return None if self.boundary is None else self.boundary.bounds

    @property
    def external_id(self) -> str | None:
        found: str | None = self.values.get("external_id")
        return found


@dataclass(frozen=True, slots=True)
class Rejected:
    """A feature that cannot be imported, with all its problems. ``name`` is cut off where it is
    too long, and lacks what cannot be stored. ``shape`` is its geometry as a map can draw it, the
    text of GeoJSON; None: it cannot."""

    number: int
    name: str
    problems: tuple[Problem, ...]
    shape: str | None = None


def prepare(feature: SourceFeature, choices: Choices, note: Note) -> Candidate | Rejected:
    """Check a feature. One whose geometry is null or empty becomes a project without a boundary, or
    an asset without a location."""
    own_name = feature_name(feature.properties, choices.mapping.name)
    name = own_name or _default_name(feature.number, choices)
    problems = [*feature.problems, *_name_problems(name, choices.mapping.name)]
    values = _values(feature.properties, choices, problems)
    problems += _project_problems(feature, choices)
    geometry: Boundary | Point | None = None
    try:
        geometry = _geometry(feature, choices, note)
    except GeometryInvalid as error:
        problems += error.problems
    if problems:
        shape = outline(feature.geometry)
        return Rejected(feature.number, _listed(name), tuple(problems), shape)
    return Candidate(
        feature.number,
        name,
        values,
        boundary=geometry if isinstance(geometry, Boundary) else None,
        location=geometry if isinstance(geometry, Point) else None,
        own_id=_own_id(feature, choices),
        is_numbered=not own_name,
    )


def stored_values(item: Candidate) -> dict[str, Any]:
    """The JSON object that ``stored_candidate`` makes the feature of, with its number and the text
    of its geometry."""
    values: dict[str, Any] = {
        "name": item.name,
        "is_numbered": item.is_numbered,
        "own_id": item.own_id,
        "columns": item.values,
    }
    if item.location is not None:
        values["location"] = [item.location.longitude, item.location.latitude]
    if item.boundary is not None:
        boundary = item.boundary
        values["boundary"] = {
            "type": boundary.type,
            "area_m2": boundary.area_m2,
            "bounds": boundary.bounds,
            "positions": boundary.positions,
        }
    return values


def stored_candidate(number: int, values: Mapping[str, Any], text: str | None) -> Candidate:
    """The feature that has these ``stored_values``; ``text`` is its geometry. Raises KeyError,
    TypeError or ValueError for others."""
    boundary: Boundary | None = None
    location: Point | None = None
    if found := values.get("boundary"):
        boundary = Boundary(
            type=found["type"],
            text=text or "",
            area_m2=int(found["area_m2"]),
            bounds=Bounds(*map(float, found["bounds"])),
            positions=int(found["positions"]),
            rings=stored_rings(text or ""),
        )
    if found := values.get("location"):
        location = Point(text or "", *map(float, found))
    return Candidate(
        number,
        values["name"],
        values["columns"],
        boundary,
        location,
        values["own_id"],
        is_numbered=values.get("is_numbered", False),  # absent: of an earlier version
    )


def imported_columns(kind: str) -> frozenset[str]:
    """The columns that ``Candidate.values`` of a kind may have."""
    fields = _FIELDS[kind]
    return frozenset(fields[name].stored_as for name in (*mapped_fields(kind), "metadata"))


def _project_problems(feature: SourceFeature, choices: Choices) -> list[Problem]:
    """An asset that was exported is imported into its own project alone, where it changes."""
    found = feature.properties.get("project_id")
    if not (choices.is_export and choices.project_id) or found in (None, "", choices.project_id):
        return []
    message = (
        f"This asset belongs to the project {found}. Import it into that one or, to have another "
        "like it here, leave out the column project_id."
    )
    return [whole_problem("conflict", message, "properties.project_id")]


def feature_name(properties: Mapping[str, Any], column: str | None) -> str:
    """The name of a feature in one line; empty when it has none. Numbers are spelled out."""
    value = properties.get(column) if column else None
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return _LINE_BREAKS.sub(" ", str(value).strip())


def _default_name(number: int, choices: Choices) -> str:
    start = choices.default_name[: NAME_LENGTH - 10].rstrip()
    return f"{start} {number}" if start else ""


def _listed(name: str) -> str:
    """A name that may be no good, for the list of features."""
    text = "".join(character for character in name[:NAME_LENGTH] if character.isprintable())
    return f"{text}…" if len(name) > NAME_LENGTH else text


def _own_id(feature: SourceFeature, choices: Choices) -> str | None:
    kind = choices.kind.removesuffix("s")
    found = feature.properties.get("id")
    return found if choices.is_export and isinstance(found, str) and is_id(kind, found) else None


def _geometry(feature: SourceFeature, choices: Choices, note: Note) -> Boundary | Point | None:
    geometry = feature.geometry
    if geometry is None or feature.problems or is_empty(geometry):
        return None
    if choices.kind == "assets":
        return location_of(geometry)
    return boundary_of(geometry, note, close_lines=choices.close_lines)


def _values(
    properties: Mapping[str, Any], choices: Choices, problems: list[Problem]
) -> dict[str, Any]:
    """The values of the fields that are read from columns; what is wrong is added to
    ``problems``."""
    fields, values = _FIELDS[choices.kind], dict[str, Any]()
    for name, column in choices.mapping.fields.items():
        found = properties.get(column)
        if name != "name" and found not in (None, ""):
            field = fields[name]
            found = _keyword(found) if field.kind is KEYWORD else found
            values[field.stored_as] = _value(field, column, found, problems)
    if metadata := _metadata(properties, choices, problems):
        values["metadata_json"] = _stored_metadata(fields["metadata"], metadata, problems)
    return values


def _metadata(
    properties: Mapping[str, Any], choices: Choices, problems: list[Problem]
) -> dict[str, Any]:
    mapping = choices.mapping
    used = {*mapping.fields.values(), *choices.ignored}
    found = {
        with_line_feeds(name): with_line_feeds(value) if isinstance(value, str) else value
        for name, value in properties.items()
        if name not in used and (mapping.metadata is None or name in mapping.metadata)
    }
    for column in [name for name, value in found.items() if has_control({name: value})]:
        del found[column]
        problems.append(whole_problem("not_valid", _CONTROLS, f"properties.{column}"))
    return _before_export(found, FEATURE_TYPES[choices.kind]) if choices.is_export else found


def _before_export(found: dict[str, Any], type_: FeatureType) -> dict[str, Any]:
    """Metadata as they were before they were exported: keys called like a field had a prefix, those
    that were no columns are together in the column ``metadata``, and a table has a column for the
    keys of all its rows."""
    others = found.pop("metadata", None) or None
    metadata = {
        type_.metadata_key(name) or name: value
        for name, value in found.items()
        if value is not None
    }
    try:
        others = loads(others.encode()) if isinstance(others, str) else others
    except JsonInvalid:
        return metadata | {"metadata": others}
    return metadata | (others if isinstance(others, dict) else {})


def _value(field: Field, column: str, value: Any, problems: list[Problem]) -> Any:
    """Return the value of a field from a cell; None if it is not valid, which ``problems`` says."""
    assert field.kind.read is not None
    try:
        return input_field(field).deserialize(field.kind.read(value))
    except ValidationError as error:
        messages = list(map(str, error.messages))
    except ValueError as error:
        messages = [str(error)]
    problems += [whole_problem("not_valid", each, f"properties.{column}") for each in messages]
    return None


def _keyword(value: object) -> object:
    """A word such as "Weather Station" in the form of a type: weather_station."""
    word = re.sub(r"[^a-z0-9-]+", "_", str(value).casefold()).strip("_")
    return word if re.fullmatch(VOCABULARY_PATTERN, word) else value


def _stored_metadata(field: Field, value: dict[str, Any], problems: list[Problem]) -> Any:
    """Attributes as metadata, with their values as they are."""
    try:
        return input_field(field).deserialize(value)
    except ValidationError as error:
        for message in error.messages:
            text = f"The other columns become metadata. {message} Choose fewer of them."
            problems.append(whole_problem("not_valid", text, "properties"))
        return None


def _name_problems(name: str, column: str | None) -> Iterator[Problem]:
    where = f"properties.{column}" if column else "properties"
    if not name:
        message = f"The column {column!r} is empty." if column else "No column holds a name."
        yield whole_problem("no_name", message, where)
    elif len(name) > NAME_LENGTH:
        message = f"The name is longer than {NAME_LENGTH} characters."
        yield whole_problem("name_too_long", message, where)
    if problem := line_problem(name):
        yield whole_problem("not_storable", f"The name is not valid. {problem}", where)
