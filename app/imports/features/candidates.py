"""Checks the features of a file that become projects or assets, without a database."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from marshmallow import ValidationError

from app.formats.features import SourceFeature
from app.formats.writers.features import FEATURE_TYPES, FeatureType
from app.geometry import (
    Boundary,
    Bounds,
    GeometryInvalid,
    Point,
    Problem,
)
from app.geometry.countries import country_of
from app.geometry.problems import whole_problem
from app.geometry.rings import stored_rings
from app.imports.features.geometries import (
    Note,
    boundary_of,
    closed,
    is_empty,
    kind_of,
    location_of,
)
from app.imports.features.mapping import ColumnMapping, mapped_fields
from app.imports.features.outlines import outline
from app.policy.bounds import NAME_LENGTH, VOCABULARY_PATTERN
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.kinds import KEYWORD
from app.values.ids import is_id
from app.values.kind_fields import value_field
from app.values.strict_json import JsonInvalid, loads
from app.values.text import has_control, has_visible, with_line_feeds, without_controls

_FIELDS: Final = {
    "projects": {field.name: field for field in PROJECT},
    "assets": {field.name: field for field in ASSET},
}
_LINE_BREAKS: Final = re.compile(r"[ \t]*[\t\n\v\f\r\x85\u2028\u2029]\s*")
_CUT: Final = "…"  # at the end of a name
_NAMELESS: Final = "Feature"  # in a layer without a name


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the features of a layer are read.

    ``default_name`` is the name of features that have none, with a number behind it.
    ``ignored`` are columns that become nothing. ``is_export``: the file was exported from here.
    ``close_lines``: closed lines and tracks become boundaries. ``project_id`` is that of the
    project that assets are imported into. ``points_as_plots``: points become assets, and all else
    projects; ``is_of_plots``: these are the choices for such points.
    """

    kind: str
    mapping: ColumnMapping
    default_name: str = ""
    ignored: Collection[str] = ()
    is_export: bool = False
    close_lines: bool = False
    project_id: str | None = None
    points_as_plots: bool = False
    is_of_plots: bool = False

    def of(self, feature: SourceFeature) -> ReadOptions:
        """How a feature is read."""
        geometry = feature.geometry or {}
        if not self.points_as_plots or kind_of(geometry) != "points" or is_empty(geometry):
            return self
        mapping = self.mapping.of_plots()
        return replace(self, kind="assets", mapping=mapping, is_of_plots=True)

    def has(self, column: str) -> bool:
        """True if a column becomes the value of a field, or metadata."""
        metadata = self.mapping.metadata
        return column in self.mapping.fields.values() or (
            column not in self.ignored and (metadata is None or column in metadata)
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feature that can be imported; ``number`` is its position in the layer, from 1.

    ``values`` are those of fields other than the name, by their columns. ``own_id`` is that of the
    project or asset that was exported as this feature. ``is_numbered``: it has no name of its own,
    and ``name`` is that of its layer with its number. ``is_cut``: its name was too long, and
    ``is_kept``: it is whole in the metadata. ``cleaned`` are the columns whose texts had characters
    that cannot be stored. A stored one has none of these three. ``is_plot``: it becomes an asset,
    in a file of projects.
    """

    number: int
    name: str
    values: dict[str, Any]
    boundary: Boundary | None = None
    location: Point | None = None
    own_id: str | None = None
    is_numbered: bool = False
    is_cut: bool = False
    is_kept: bool = False
    cleaned: tuple[str, ...] = ()
    is_plot: bool = False

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
class RejectedFeature:
    """A feature that cannot be imported, with all its problems. ``shape`` is its geometry as a map
    can draw it, the text of GeoJSON; None: it cannot."""

    number: int
    name: str
    problems: tuple[Problem, ...]
    shape: str | None = None
    is_plot: bool = False


def check_feature(
    feature: SourceFeature, choices: ReadOptions, note: Note
) -> Candidate | RejectedFeature:
    """Check a feature. One whose geometry is null or empty becomes a project without a boundary, or
    an asset without a location. No name and no character of a text make it invalid."""
    choices = choices.of(feature)
    cleaned = tuple(filter(choices.has, _with_controls(feature.properties)))
    properties = feature.properties | {
        column: without_controls(feature.properties[column]) for column in cleaned
    }
    whole_name = feature_name(properties, choices.mapping.name, feature.part)
    name = cut_name(whole_name) or f"{default_start(choices)} {feature.number}"
    problems = [*feature.problems]
    values = _values(properties, choices, problems)
    is_kept = len(whole_name) > NAME_LENGTH and _keep_name(whole_name, values, choices)
    problems += _project_problems(feature, choices)
    geometry: Boundary | Point | None = None
    try:
        geometry = _geometry(feature, choices, note)
    except GeometryInvalid as error:
        problems += error.problems
    if problems:
        read = feature.geometry or {}
        shape = outline(closed(read) if choices.close_lines else read)
        return RejectedFeature(feature.number, name, tuple(problems), shape, choices.is_of_plots)
    return Candidate(
        feature.number,
        name,
        values,
        boundary=geometry if isinstance(geometry, Boundary) else None,
        location=geometry if isinstance(geometry, Point) else None,
        own_id=_own_id(feature, choices),
        is_numbered=not whole_name,
        is_cut=len(whole_name) > NAME_LENGTH,
        is_kept=is_kept,
        cleaned=cleaned,
        is_plot=choices.is_of_plots,
    )


def stored_values(item: Candidate) -> dict[str, Any]:
    """The JSON object that ``stored_candidate`` makes the feature of, with its number and the text
    of its geometry."""
    values: dict[str, Any] = {
        "name": item.name,
        "is_numbered": item.is_numbered,
        "is_plot": item.is_plot,
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
        rings, bounds = stored_rings(text or ""), Bounds(*map(float, found["bounds"]))
        boundary = Boundary(
            type=found["type"],
            text=text or "",
            area_m2=int(found["area_m2"]),
            bounds=bounds,
            positions=int(found["positions"]),
            rings=rings,
            country=country_of(rings, bounds),
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
        is_numbered=values["is_numbered"],
        is_plot=values["is_plot"],
    )


def imported_columns(kind: str) -> frozenset[str]:
    """The columns that ``Candidate.values`` of a kind may have."""
    fields = _FIELDS[kind]
    return frozenset(fields[name].stored_as for name in (*mapped_fields(kind), "metadata"))


def _project_problems(feature: SourceFeature, choices: ReadOptions) -> list[Problem]:
    """An asset that was exported is imported into its own project alone, where it changes."""
    found = feature.properties.get("project_id")
    if not (choices.is_export and choices.project_id) or found in (None, "", choices.project_id):
        return []
    message = (
        f"This asset belongs to the project {found}. Import it into that one or, to have another "
        "like it here, leave out the column project_id."
    )
    return [whole_problem("conflict", message, "properties.project_id")]


def feature_name(properties: Mapping[str, Any], column: str | None, part: int | None = None) -> str:
    """The name of a feature in one line, however long; empty when it has none that can be seen.
    Numbers are spelled out. ``part``: the number behind it, of one point of several."""
    value = properties.get(column) if column else None
    if value is None or isinstance(value, bool | dict | list):
        return ""
    name = one_line(str(value))
    return f"{name} {part}" if name and part else name


def cut_name(name: str) -> str:
    """A name that is not too long."""
    if len(name) <= NAME_LENGTH:
        return name
    return name[: NAME_LENGTH - len(_CUT)].rstrip() + _CUT


def one_line(text: str) -> str:
    """A text in one line; empty when nothing of it can be seen."""
    text = without_controls(_LINE_BREAKS.sub(" ", text.strip())).strip()
    return text if has_visible(text) else ""


def default_start(choices: ReadOptions) -> str:
    """What the number of a feature without a name is put behind."""
    return one_line(choices.default_name)[: NAME_LENGTH - 10].rstrip() or _NAMELESS


def _with_controls(properties: Mapping[str, Any]) -> list[str]:
    """The columns whose texts hold characters that cannot be stored."""
    return [
        column
        for column, value in properties.items()
        if has_control({with_line_feeds(column): _with_line_feeds(value)})
    ]


def _with_line_feeds(value: object) -> object:
    return with_line_feeds(value) if isinstance(value, str) else value


def _keep_name(name: str, values: dict[str, Any], choices: ReadOptions) -> bool:
    """Add a name that was cut off to the metadata, if there is room, and nobody has chosen what
    they are. Returns whether it was added."""
    column = choices.mapping.name
    if column is None or choices.mapping.metadata is not None:
        return False
    metadata = loads((values.get("metadata_json") or "{}").encode())
    if (key := without_controls(column)) in metadata:
        return True
    metadata[key] = name
    with suppress(ValidationError):
        field = value_field(_FIELDS[choices.kind]["metadata"])
        values["metadata_json"] = field.deserialize(metadata)
        return True
    return False


def _own_id(feature: SourceFeature, choices: ReadOptions) -> str | None:
    kind = choices.kind.removesuffix("s")
    found = feature.properties.get("id")
    return found if choices.is_export and isinstance(found, str) and is_id(kind, found) else None


def _geometry(feature: SourceFeature, choices: ReadOptions, note: Note) -> Boundary | Point | None:
    geometry = feature.geometry
    if geometry is None or feature.problems or is_empty(geometry):
        return None
    if choices.kind == "assets":
        return location_of(geometry)
    return boundary_of(geometry, note, close_lines=choices.close_lines)


def _values(
    properties: Mapping[str, Any], choices: ReadOptions, problems: list[Problem]
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
    if metadata := _metadata(properties, choices):
        values["metadata_json"] = _stored_metadata(fields["metadata"], metadata, problems)
    return values


def _metadata(properties: Mapping[str, Any], choices: ReadOptions) -> dict[str, Any]:
    of_fields = choices.mapping.used
    found = {
        without_controls(name): _with_line_feeds(value)
        for name, value in properties.items()
        if name not in of_fields and choices.has(name)
    }
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
        return value_field(field).deserialize(field.kind.read(value))
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
        return value_field(field).deserialize(value)
    except ValidationError as error:
        for message in error.messages:
            text = f"The other columns become metadata. {message} Choose fewer of them."
            problems.append(whole_problem("not_valid", text, "properties"))
        return None
