"""Checking features of a file that become projects or assets, without a database."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final

import orjson
from marshmallow import ValidationError

from app.formats.features import SourceFeature
from app.formats.readers.layer_limits import quoted
from app.formats.writers.features import FEATURE_TYPES, FeatureType
from app.geometry import (
    Boundary,
    Bounds,
    GeometryInvalid,
    Point,
    Problem,
    measured_boundary,
    read_point,
)
from app.geometry.countries import country_at
from app.geometry.countries.location import Country
from app.geometry.problems import whole_problem
from app.imports.features.geometries import (
    Note,
    boundary_of,
    closed_lines,
    geometry_kind,
    is_empty,
    location_of,
    plain_problem,
    rejected_outline,
)
from app.imports.features.mapping import ColumnMapping, mapped_fields
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.imports import LATER_PROBLEMS, PROBLEMS, SHOWN_FEATURES
from app.policy.kinds import number_text
from app.policy.request_limits import NAME_LENGTH
from app.values.ids import is_id
from app.values.kind_schemas import value_field
from app.values.strict_json import JsonInvalid, loads
from app.values.text import (
    has_control,
    has_visible,
    json_with_line_feeds,
    with_line_feeds,
    without_controls,
)

_FIELDS: Final = {
    "projects": {field.name: field for field in PROJECT},
    "assets": {field.name: field for field in ASSET},
}
_LINE_BREAKS: Final = re.compile(r"(?<! ) *+[\t\n\v\f\r\x85\u2028\u2029]\s*+")
_ELLIPSIS: Final = "…"
_DEFAULT_PREFIX: Final = "Feature"
_POINT: Final = '{"type":"Point",'  # begins the text of a ``Point``
_STORED: Final = ("name", "is_numbered", "is_plot", "own_id", "columns", "area_m2")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read the features of a layer.

    ``default_name`` followed by a number is the name of a feature without one. ``ignored`` columns
    become nothing. ``is_export``: the file was exported from here. ``close_lines``: lines and
    tracks become boundaries. ``project_id``: the project that assets are imported into.
    ``points_as_plots``: points become assets, and all else projects; ``is_plot``: these options are
    for such points. ``names``: given to features by their numbers, instead of their own.
    """

    kind: str
    mapping: ColumnMapping
    default_name: str = ""
    ignored: Collection[str] = ()
    is_export: bool = False
    close_lines: bool = False
    project_id: str | None = None
    points_as_plots: bool = False
    is_plot: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    def for_feature(self, feature: SourceFeature) -> ReadOptions:
        """Return the options for one feature, which may be a plot."""
        geometry = feature.geometry or {}
        if not self.points_as_plots or geometry_kind(geometry) != "points" or is_empty(geometry):
            return self
        mapping = self.mapping.for_plots()
        return replace(self, kind="assets", mapping=mapping, is_plot=True)

    def imports(self, column: str) -> bool:
        """True if a column becomes the value of a field, or metadata."""
        metadata = self.mapping.metadata
        return column in self.mapping.fields.values() or (
            column not in self.ignored and (metadata is None or column in metadata)
        )


@dataclass(frozen=True)
class Candidate:
    """A feature that can be imported; ``number`` is its position in the layer, from 1.

    ``columns`` are the database columns of its fields, without the name. ``geometry`` is the text
    of its boundary or location as GeoJSON, ``area_m2`` the area of the boundary; None: it is not
    known. ``own_id`` is the id of the project or asset that was exported as this feature.
    ``is_numbered``: the feature has no name, so ``name`` is that of its layer with a number.
    ``is_plot``: it becomes an asset in an import of projects.

    Not stored: ``is_cut``: the name was too long, and ``is_kept_whole``: the metadata has all of
    it. ``cleaned`` are the columns whose texts had characters that cannot be stored.
    """

    number: int
    name: str
    columns: dict[str, Any]
    geometry: str | None = None
    area_m2: int | None = None
    own_id: str | None = None
    is_numbered: bool = False
    is_cut: bool = False
    is_kept_whole: bool = False
    cleaned: tuple[str, ...] = ()
    is_plot: bool = False

    @cached_property
    def boundary(self) -> Boundary | None:
        """Raises LookupError, TypeError or ValueError if ``geometry`` is malformed."""
        if self.geometry is None or self.geometry.startswith(_POINT):
            return None
        return measured_boundary(self.geometry, self.area_m2)

    @cached_property
    def location(self) -> Point | None:
        """Raises GeometryInvalid if ``geometry`` is malformed."""
        if self.geometry is None or not self.geometry.startswith(_POINT):
            return None
        return read_point(orjson.loads(self.geometry))

    @property
    def bounds(self) -> Bounds | None:
        """The box around the boundary or location; None without either."""
        if self.location is not None:
            longitude, latitude = self.location.longitude, self.location.latitude
            return Bounds(longitude, latitude, longitude, latitude)
        return None if self.boundary is None else self.boundary.bounds

    @property
    def country(self) -> Country:
        """The country that the feature lies in; None in none, False if it is not known."""
        if self.location is not None:
            return country_at(self.location.longitude, self.location.latitude)
        return None if self.boundary is None else self.boundary.country

    @property
    def external_id(self) -> str | None:
        external_id: str | None = self.columns.get("external_id")
        return external_id


@dataclass(frozen=True, slots=True)
class RejectedFeature:
    """A feature that cannot be imported, with all its problems. ``geometry`` is GeoJSON text
    for a map; None: it cannot be drawn."""

    number: int
    name: str
    problems: tuple[Problem, ...]
    geometry: str | None = None
    is_plot: bool = False


def shown_problems(number: int) -> int:
    """The most problems that are stored of the feature with a number."""
    return PROBLEMS if number <= SHOWN_FEATURES else LATER_PROBLEMS


def check_feature(
    feature: SourceFeature, options: ReadOptions, note: Note
) -> Candidate | RejectedFeature:
    """Check a feature.

    A null or empty geometry makes a project without a boundary, or an asset without a location. A
    missing name or control characters do not reject a feature.
    """
    options = options.for_feature(feature)
    cleaned = tuple(filter(options.imports, _with_controls(feature.properties)))
    properties = feature.properties | {
        column: without_controls(feature.properties[column]) for column in cleaned
    }
    whole_name = options.names.get(str(feature.number)) or feature_name(
        properties, options.mapping.name, feature.part
    )
    name = cut_name(whole_name) or f"{default_prefix(options)} {feature.number}"
    problems = [*feature.problems]
    values = _candidate_values(properties, options, problems)
    is_cut = len(whole_name) > NAME_LENGTH
    is_kept_whole = is_cut and _keep_name(whole_name, values, options)
    problems += _project_problems(feature, options)
    geometry: Boundary | Point | None = None
    try:
        geometry = _candidate_geometry(feature, options, note)
    except GeometryInvalid as error:
        problems += map(plain_problem, error.problems)
    if problems:
        source = feature.geometry or {}
        shape = rejected_outline(closed_lines(source) if options.close_lines else source)
        shown = tuple(problems[: shown_problems(feature.number)])
        return RejectedFeature(feature.number, name, shown, shape, options.is_plot)
    return Candidate(
        feature.number,
        name,
        values,
        geometry.text if geometry else None,
        geometry.area_m2 if isinstance(geometry, Boundary) else None,
        own_id=_own_id(feature, options),
        is_numbered=not whole_name,
        is_cut=is_cut,
        is_kept_whole=is_kept_whole,
        cleaned=cleaned,
        is_plot=options.is_plot,
    )


def stored_values(candidate: Candidate) -> dict[str, Any]:
    """A JSON object for ``stored_candidate``, which also needs the number and the geometry."""
    return {name: getattr(candidate, name) for name in _STORED}


def stored_candidate(number: int, values: Mapping[str, Any], text: str | None) -> Candidate:
    """Return the candidate with these ``stored_values``, and the text of its geometry."""
    return Candidate(
        number, geometry=text, **{name: values[name] for name in _STORED if name in values}
    )


def imported_columns(kind: str) -> frozenset[str]:
    """The columns that ``Candidate.columns`` of a kind may have."""
    fields = _FIELDS[kind]
    return frozenset(fields[name].stored_as for name in (*mapped_fields(kind), "metadata"))


def _project_problems(feature: SourceFeature, options: ReadOptions) -> list[Problem]:
    """An exported asset can only be imported into its own project, where it changes."""
    project_id = feature.properties.get("project_id")
    is_own = project_id in (None, "", options.project_id)
    if is_own or not (options.is_export and options.project_id):
        return []
    message = (
        f"This asset belongs to the project {project_id}. Import it into that one or, to have "
        "another like it here, leave out the column project_id."
    )
    return [whole_problem("conflict", message, "properties.project_id")]


def feature_name(properties: Mapping[str, Any], column: str | None, part: int | None = None) -> str:
    """The name of a feature in one line, of any length; empty without a visible name.

    Args:
        part: the number to append, for one point of several.
    """
    value = properties.get(column) if column else None
    if value is None or isinstance(value, bool | dict | list):
        return ""
    name = one_line(number_text(value))
    return f"{name} {part}" if name and part else name


def cut_name(name: str) -> str:
    """Shorten a name to NAME_LENGTH characters."""
    if len(name) <= NAME_LENGTH:
        return name
    return name[: NAME_LENGTH - len(_ELLIPSIS)].rstrip() + _ELLIPSIS


def one_line(text: str) -> str:
    """Join the lines of a text; empty if no character is visible."""
    text = without_controls(_LINE_BREAKS.sub(" ", text.strip())).strip()
    return text if has_visible(text) else ""


def default_prefix(options: ReadOptions) -> str:
    """The name of nameless features, without their numbers."""
    return one_line(options.default_name)[: NAME_LENGTH - 10].rstrip() or _DEFAULT_PREFIX


def _with_controls(properties: Mapping[str, Any]) -> list[str]:
    """The columns whose names or texts have control characters."""
    if not has_control(properties):  # mostly, and this takes a fraction of the time
        return []
    texts = {column: json_with_line_feeds([column, value]) for column, value in properties.items()}
    return [column for column, text in texts.items() if has_control(text)]


def _with_line_feeds(value: object) -> object:
    return with_line_feeds(value) if isinstance(value, str) else value


def _keep_name(name: str, values: dict[str, Any], options: ReadOptions) -> bool:
    """Add a whole name to the metadata, unless their columns were chosen or they are full. Returns
    True if the metadata has it."""
    column = options.mapping.name
    if column is None or options.mapping.metadata is not None:
        return False
    metadata = loads((values.get("metadata_json") or "{}").encode())
    if (key := without_controls(column)) in metadata:
        return True
    metadata[key] = name
    with suppress(ValidationError):
        field = value_field(_FIELDS[options.kind]["metadata"])
        values["metadata_json"] = field.deserialize(metadata)
        return True
    return False


def _own_id(feature: SourceFeature, options: ReadOptions) -> str | None:
    if not options.is_export:
        return None
    own_id = feature.properties.get("id")
    kind = options.kind.removesuffix("s")
    return own_id if isinstance(own_id, str) and is_id(kind, own_id) else None


def _candidate_geometry(
    feature: SourceFeature, options: ReadOptions, note: Note
) -> Boundary | Point | None:
    geometry = feature.geometry
    if geometry is None or feature.problems or is_empty(geometry):
        return None
    if options.kind == "assets":
        return location_of(geometry)
    most = shown_problems(feature.number)
    return boundary_of(geometry, note, close_lines=options.close_lines, max_faults=most)


def _candidate_values(
    properties: Mapping[str, Any], options: ReadOptions, problems: list[Problem]
) -> dict[str, Any]:
    """Read the mapped columns and the metadata; add what is wrong to ``problems``."""
    fields, values = _FIELDS[options.kind], dict[str, Any]()
    for name, column in options.mapping.fields.items():
        value = properties.get(column)
        if name != "name" and value not in (None, ""):
            field = fields[name]
            place = f"properties.{column}"
            values[field.stored_as] = _read_value(field, value, place, problems, str)
    if metadata := _candidate_metadata(properties, options):
        explain = partial(_explain_metadata, metadata)
        read = _read_value(fields["metadata"], metadata, "properties", problems, explain)
        values["metadata_json"] = read
    return values


def _candidate_metadata(properties: Mapping[str, Any], options: ReadOptions) -> dict[str, Any]:
    used = options.mapping.used
    metadata = {
        without_controls(name): _with_line_feeds(value)
        for name, value in properties.items()
        if name not in used and options.imports(name)
    }
    return _before_export(metadata, FEATURE_TYPES[options.kind]) if options.is_export else metadata


def _before_export(exported: dict[str, Any], type_: FeatureType) -> dict[str, Any]:
    """Restore metadata as they were before an export.

    The export prefixes keys called like a field, writes keys that are no columns to the column
    ``metadata``, and gives a row the columns of all rows.
    """
    others = exported.pop("metadata", None) or None
    metadata = {
        type_.metadata_key(name) or name: value
        for name, value in exported.items()
        if value is not None
    }
    try:
        others = loads(others.encode()) if isinstance(others, str) else others
    except JsonInvalid:
        return metadata | {"metadata": others}
    return metadata | (others if isinstance(others, dict) else {})


def _read_value(
    field: Field, value: Any, place: str, problems: list[Problem], explain: Callable[[str], str]
) -> Any:
    """Return the value of a field from that of a file; None, and problems, if it is not valid."""
    try:
        read = field.kind.read
        return value_field(field).deserialize(value if read is None else read(value))
    except ValidationError as error:
        messages = list(map(str, error.messages))
    except ValueError as error:
        messages = [str(error)]
    problems += [whole_problem("not_valid", explain(message), place) for message in messages]
    return None


def _explain_metadata(metadata: dict[str, Any], message: str) -> str:
    longest = max(metadata, key=lambda name: len(str(metadata[name])))
    return (
        f"The other columns become metadata. {message} Choose fewer of them: the longest value is "
        f"in {quoted(longest)}."
    )
