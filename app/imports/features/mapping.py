"""Mapping the columns of a layer to fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from app.formats.encodings import read_once
from app.formats.features import SourceFeature
from app.formats.positions import Json, first_position, is_degrees, positions_of
from app.formats.writers.dbf import NAME_BYTES
from app.geometry import GeometryInvalid
from app.geometry.structure import ROUNDING
from app.imports.features.geometries import (
    closed_area_m2,
    geometry_kind,
    has_points,
    is_empty,
    is_nearly_closed,
)
from app.policy.eudr import VERIFICATION
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.files import FEATURES
from app.policy.headings import heading_words, plain_heading, usual_headings
from app.policy.imports import GEOMETRY_COLUMNS, PLACES, SAMPLE_LENGTH, SAMPLES
from app.policy.request_limits import METADATA_KEYS
from app.values.kind_schemas import opens_statement

# Usual headings of the column of names, the likeliest first; also followed by "name", a word for a
# number or digits ("DISTRICTNAME", "parcel_no", "Name_1").
_NAME_WORDS: Final = tuple(
    word for meaning in ("name", "title", "unit") for word in usual_headings(meaning)
)
_ADMINISTRATIVE: Final = re.compile(r"adm[0-5][a-z]{2}")  # of the United Nations: "ADM3_EN"
_UNITS: Final = (
    r"(?:sq\.? ?)?(?:km|m|mi|ft|cm|mm)(?:2|3|²|³)?|sqm|sqkm|ha|hectares?|hectareas?|hektar|acres?"
    r"|ac|%|°|t|kg"
)
_NUMBER: Final = re.compile(r"\A[+-]?[0-9][0-9 .,'’_]*+(?:e[+-]?[0-9]++)?", re.IGNORECASE)
_QUANTITY: Final = re.compile(rf"{_NUMBER.pattern}\s*+(?:{_UNITS})", re.IGNORECASE)

_LONGEST_NUMBER: Final = 100  # characters, with its unit
_UNIT: Final = re.compile(_UNITS, re.IGNORECASE)

_Box = tuple[float, float, float, float]

_FIELDS: Final = {"projects": PROJECT, "assets": ASSET}
_WKT: Final = re.compile(r"(MULTI)?(POINT|POLYGON) ?Z? ?\(")
_SECRET_COLUMNS: Final = frozenset({  # also as a shapefile cuts it off
    VERIFICATION.casefold(), VERIFICATION.casefold()[:NAME_BYTES],
})  # fmt: skip
_PLOT_COLUMN: Final = re.compile(  # in files for the EUDR and Whisp's results
    r"\A(?:producer|productionplace$|area$|country$|cadastralidentifier$|postal|city$"
    r"|statementreference$|risk_|ind_|.*_(before|after)_2020$)",
    re.IGNORECASE,
)
_ONLY_PLOT_COLUMNS: Final = frozenset({
    "producername", "producercountry", "productionplace",
    "risk_pcrop", "risk_acrop", "risk_livestock", "risk_timber",
})  # fmt: skip
_PLACE: Final = "productionplace"
_MOST_DISTINCT: Final = 1000  # values of a column that are counted
_CODE: Final = re.compile(rf"[^\s°]{{1,{SAMPLE_LENGTH}}}")
_DATE: Final = re.compile(r"\d{4}(\D)\d\d?\1\d\d?(?!\d)|\d\d?(\D)\d\d?\2\d{4}(?!\d)")
_PLACES: Final = frozenset(
    word for meaning in (*GEOMETRY_COLUMNS, "position") for word in usual_headings(meaning)
)
_YES: Final = frozenset({"yes", "no", "true", "false", "y", "n"})
_COUNTERS: Final = frozenset({"fid", "gid", "id", "objectid", "ogcfid"})  # which tell nothing
_PLOT_IDS: Final = ("external_id", "plotid", "plot_id")
# Columns that GDAL's driver LIBKML adds to any KML file; ``id2`` is a second ``id``.
_ALWAYS_FROM_KML: Final = frozenset({"tessellate", "extrude", "visibility"})
_FROM_KML: Final = _ALWAYS_FROM_KML | {
    *("timestamp", "begin", "end", "altitudemode", "altitudemo", "draworder", "icon", "snippet"),
    "id2",
}
_COUNTRY_COLUMNS: Final = ("ProducerCountry", "country", "Country", "COUNTRY")
_EXPORT_COLUMNS: Final = {"created_at", "updated_at"}  # in all files of an export


@dataclass(slots=True)
class ColumnUse:
    """How a column is used over all features.

    ``filled`` counts values, ``whole`` the whole numbers among them, ``measured`` other numbers and
    those with a unit, ``runs`` how often a value differs from the one before. ``is_secret``: some
    have a verification number. ``samples`` are the first different values, as texts. ``distinct``
    counts different values up to 1,000, by their hashes in ``seen``. ``are_codes``: no value is
    there twice, and all are whole numbers or short texts without spaces.
    """

    filled: int = 0
    is_secret: bool = False
    whole: int = 0
    measured: int = 0
    runs: int = 0
    last: object = None
    samples: list[str] = field(default_factory=list)
    distinct: int = 0
    seen: dict[int, None] = field(default_factory=dict)
    are_codes: bool = True

    @property
    def numbers(self) -> int:
        return self.whole + self.measured

    @property
    def varies(self) -> bool:
        return self.runs > 1

    @property
    def tells_apart(self) -> bool:
        """True if most features with a value have one of their own."""
        return 2 * self.distinct > min(self.filled, _MOST_DISTINCT)

    def add(self, value: object) -> None:
        """Count a value that is not empty."""
        self.filled += 1
        self.is_secret = self.is_secret or opens_statement(value)
        if value != self.last:
            self.runs += 1
            self.last = value
            if len(self.samples) < SAMPLES and (text := shorten_value(value)) not in self.samples:
                self.samples.append(text)
            if self.distinct < _MOST_DISTINCT or self.are_codes:
                self.seen[hash(str(value) if isinstance(value, dict | list) else value)] = None
                self.distinct = min(len(self.seen), _MOST_DISTINCT)
        is_text = type(value) is str and len(value) <= _LONGEST_NUMBER
        is_whole, is_measured = _kinds_of_text(value) if is_text else _number_kinds(value)
        self.whole += is_whole
        self.measured += is_measured
        if self.are_codes:
            is_code = is_whole or (is_text and not is_measured and _CODE.fullmatch(str(value)))
            self.are_codes = bool(is_code) and len(self.seen) == self.filled <= FEATURES


def shorten_value(value: object, length: int = SAMPLE_LENGTH) -> str:
    """Shorten the text of a value to ``length`` characters."""
    text = str(value)
    return text if len(text) <= length else f"{text[: length - 1]}…"


@dataclass(slots=True)
class LayerScan:
    """How the columns of a layer are used, and where its features are.

    ``unreadable`` counts features with problems; ``areas``, ``lines`` and ``points`` count
    geometries; ``collected_points`` counts collections with points, which are areas too;
    ``closable`` counts lines whose ends nearly meet, or that are valid boundaries, of ``closed_m2``
    in all, once they are closed.

    Of each geometry, the first position is looked at: ``in_degrees`` and ``not_degrees`` count
    those that can and cannot be degrees, ``in_swapped_degrees`` those that only can, with all
    others of their geometry, if x and y change places. ``far`` is the first that cannot be degrees.
    ``box`` is around all positions, ``upright`` around those in degrees, ``turned`` around those in
    swapped degrees, swapped. ``places`` has some in degrees, far apart, each with the country that
    a column names, or an empty text. ``letters`` counts features by ``SourceFeature.letter``;
    ``at_zero`` those at 0, 0. ``columns`` has not those with verification numbers, ``secret``.
    """

    features: int = 0
    columns: dict[str, ColumnUse] = field(default_factory=dict)
    unreadable: int = 0
    areas: int = 0
    lines: int = 0
    points: int = 0
    closable: int = 0
    closed_m2: int = 0
    collected_points: int = 0
    in_degrees: int = 0
    not_degrees: int = 0
    in_swapped_degrees: int = 0
    far: tuple[float, float] | None = None
    box: _Box | None = None
    upright: _Box | None = None
    turned: _Box | None = None
    twice: list[str] = field(default_factory=list)
    letters: dict[str, int] = field(default_factory=dict)
    at_zero: int = 0
    places: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    secret: list[str] = field(default_factory=list)

    @property
    def placed(self) -> int:
        """The number of geometries."""
        return self.areas + self.lines + self.points

    def add(self, feature: SourceFeature) -> None:
        self.features += 1
        self.unreadable += bool(feature.problems)
        self.letters[feature.letter] = self.letters.get(feature.letter, 0) + 1
        columns = self.columns
        for name, value in feature.properties.items():
            if (use := columns.get(name)) is None:
                use = columns[name] = ColumnUse(
                    is_secret=name.casefold() in _SECRET_COLUMNS,
                    are_codes=len(columns) < METADATA_KEYS,
                )
            if value is not None and value != "":
                use.add(value)
            if isinstance(value, str) and not value.isascii() and read_once(value) != value:
                self.twice.append(shorten_value(value))
                del self.twice[SAMPLES:]
        position = first_position(feature.geometry)
        if position is None:
            is_broken = bool(feature.geometry and not is_empty(feature.geometry))
            self.unreadable += is_broken and not feature.problems
            return
        kind = geometry_kind(feature.geometry or {})
        self.areas += kind == "areas"
        self.points += kind == "points"
        self.collected_points += has_points(feature.geometry or {})
        self.lines += kind == "lines"
        x, y = position
        self.at_zero += x == y == 0 and kind == "points"
        self.box = _box_around(self.box, x, y)
        if is_degrees(position):
            self.in_degrees += 1
            self.upright = _box_around(self.upright, x, y)
            if len(self.places) < PLACES:
                country = _named_country(feature.properties)
                self.places.setdefault(f"{country} {x:.0f} {y:.0f}", (country, x, y))
            if kind == "lines":
                m2 = closed_area_m2(feature.geometry or {})
                self.closable += bool(m2) or is_nearly_closed(feature.geometry or {})
                self.closed_m2 += m2
            return
        self.not_degrees += 1
        self.far = self.far or position
        if _is_swapped(feature.geometry or {}):
            self.in_swapped_degrees += 1
            self.turned = _box_around(self.turned, y, x)


def _named_country(properties: Mapping[str, Any]) -> str:
    """The country that a feature names, as it is written; empty without one."""
    values = (properties.get(name) for name in _COUNTRY_COLUMNS)
    return str(next(filter(None, values), ""))[:SAMPLE_LENGTH]


def _is_swapped(geometry: Json) -> bool:
    """True if all positions can be degrees, but for a rounding error, with x and y swapped."""
    try:
        points = abs(positions_of(geometry))
    except GeometryInvalid:
        return False
    return bool((points <= (90 + ROUNDING, 180 + ROUNDING)).all())


def _box_around(box: _Box | None, x: float, y: float) -> _Box:
    west, south, east, north = box or (x, y, x, y)
    return min(west, x), min(south, y), max(east, x), max(north, y)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """The column of each field. ``metadata``: the columns that become metadata; None: all others.
    ``geometry``: the columns with the geometries, if a person has named them."""

    fields: Mapping[str, str]
    metadata: tuple[str, ...] | None = None
    geometry: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The column with the names."""
        return self.fields.get("name")

    @property
    def has_external_id(self) -> bool:
        return "external_id" in self.fields

    @property
    def used(self) -> frozenset[str]:
        """The columns of fields, which do not become metadata. ``ProductionPlace`` is both a name
        and metadata."""
        return frozenset(
            column
            for name, column in self.fields.items()
            if name != "name" or column.casefold() != _PLACE
        )

    def for_plots(self) -> ColumnMapping:
        """Return the mapping for points that become plots in an import of projects."""
        names = mapped_fields("assets")
        fields = {name: column for name, column in self.fields.items() if name in names}
        return replace(self, fields=fields)

    def as_json(self) -> dict[str, Any]:
        """The mapping as the API shows it and the database stores it."""
        metadata = None if self.metadata is None else list(self.metadata)
        return {**self.fields, **self.geometry, "metadata": metadata}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ColumnMapping:
        """Read what ``as_json`` returns; fields may be null."""
        columns = {name: column for name, column in value.items() if name != "metadata" and column}
        geometry: dict[str, str] = {
            name: columns.pop(name) for name in GEOMETRY_COLUMNS if name in columns
        }
        metadata = value.get("metadata")
        return cls(columns, None if metadata is None else tuple(metadata), geometry)


def mapped_fields(kind: str) -> tuple[str, ...]:
    """The fields of "projects" or "assets" that can be read from a column."""
    return tuple(
        field.name
        for field in _FIELDS[kind]
        if field.kind.read is not None and field.writable == "always"
    )


def guess_mapping(scan: LayerScan, kind: str, partial_mapping: Mapping[str, Any]) -> ColumnMapping:
    """Complete a mapping with the likeliest columns.

    Args:
        partial_mapping: the fields that have a column already, as in ``ColumnMapping.as_json``.
    """
    columns = [name for name, use in scan.columns.items() if use.filled]
    mapping = {} if "name" in partial_mapping else {"name": guess_name_column(scan)}
    for kind_field in _FIELDS[kind]:
        if kind_field.name in mapped_fields(kind) and kind_field.name != "name":
            mapping[kind_field.name] = _usual_column(kind_field, columns)
    return ColumnMapping.from_json(mapping | dict(partial_mapping))


def guess_name_column(scan: LayerScan) -> str | None:
    """The column that most likely holds the names, or None.

    A column called "name" comes first, in any language; its values may be numbers, but not with a
    unit. Of others with a usual heading, whose values are not all numbers, it is the one that tells
    most features apart. Columns that are mostly empty, or have one value, come last. Without such a
    column, the ids of plots are their names. In an export from here, it is ``name``.
    """
    if is_export(scan) and "name" in scan.columns:
        return "name"
    likely = [name for name, use in scan.columns.items() if use.filled and _has_names(name, use)]

    def unlikeliness(name: str) -> tuple[bool, bool, bool, int, int, int]:
        use, rank = scan.columns[name], name_rank(name)
        rare = 2 * use.filled < scan.features
        constant = use.filled > 1 and not use.varies
        return rare, constant, not _is_called_name(rank), -use.distinct, rank, -use.filled

    likeliest = min(likely, key=unlikeliness, default=None)
    return plot_ids(scan) if likeliest is None else likeliest


def name_options(scan: LayerScan, used: Collection[str]) -> list[str]:
    """The columns that a person may choose as the name, but those ``used``: the one that tells most
    features apart first, texts before numbers, and measures only under a usual heading."""

    def unlikeliness(name: str) -> tuple[bool, int, bool, bool]:
        use, rank = scan.columns[name], name_rank(name)
        is_counter = plain_heading(name) in _COUNTERS
        return is_counter, -use.distinct, rank < 0, use.numbers == use.filled

    likely = [
        name
        for name, use in scan.columns.items()
        if 2 * use.filled >= scan.features > 0
        and (use.varies or scan.features == 1)
        and (not use.measured or use.numbers < use.filled or _is_usual(name))
        and not _UNIT.fullmatch(name)
        and name not in used
    ]
    return sorted(likely, key=unlikeliness)


def id_options(scan: LayerScan, ignored: Collection[str]) -> list[str]:
    """The columns that a person may choose as the external id, but those ``ignored``: each feature
    has a code of its own, which is no date, place or name. A column called like a code comes first,
    then texts, and numbers of rows last; other numbers may be measures, and are left out."""

    def unlikeliness(name: str) -> tuple[bool, bool]:
        return plain_heading(name) in _COUNTERS, not _is_called_code(name)

    likely = [
        name
        for name, use in scan.columns.items()
        if use.are_codes
        and use.filled == scan.features > 1
        and (_is_called_code(name) or use.whole < use.filled)
        and not _is_called_name(name_rank(name))
        and not all(map(_DATE.match, use.samples))
        and plain_heading(name) not in _PLACES
        and name not in ignored
    ]
    return sorted(likely, key=unlikeliness)


def are_plots(columns: Iterable[str]) -> bool:
    """True for the columns of a file for the EUDR, or of Whisp's results."""
    return any(name.casefold() in _ONLY_PLOT_COLUMNS for name in columns)


def plot_ids(scan: LayerScan) -> str | None:
    """The first column with ids of plots, filled in at least half of the features; None without.

    Outside files for the EUDR and of Whisp, ``external_id`` is no such column, nor is one with the
    same value in consecutive rows, such as the trees of a plot.
    """
    is_known = are_plots(scan.columns)
    names = {name.casefold(): name for name in scan.columns}
    for word in _PLOT_IDS if is_known else _PLOT_IDS[1:]:
        use = scan.columns.get(names.get(word, ""))
        if use and 2 * use.filled >= scan.features and (is_known or use.runs == use.filled):
            return names[word]
    return None


def within_key_limit(
    mapping: ColumnMapping, scan: LayerScan, ignored: Collection[str]
) -> tuple[ColumnMapping, list[str]]:
    """Limit the metadata to METADATA_KEYS columns, unless a person has chosen them.

    Columns for the EUDR and of Whisp come first, then the others in their order; empty ones are
    dropped. Returns the mapping, and the columns with values that are left out.
    """
    used = {*mapping.used, *ignored}
    others = [name for name in scan.columns if name not in used]
    if len(others) <= METADATA_KEYS:
        return mapping, []
    filled = [name for name in others if scan.columns[name].filled]
    in_order = sorted(filled, key=lambda name: _PLOT_COLUMN.match(name) is None)
    first, left_out = tuple(in_order[:METADATA_KEYS]), in_order[METADATA_KEYS:]
    if mapping.metadata not in (None, first):  # None the first time, ``first`` when read again
        return mapping, []
    return replace(mapping, metadata=first), left_out


def is_export(scan: LayerScan) -> bool:
    """True if the file has the columns of an export from here."""
    return {column.casefold() for column in scan.columns} >= _EXPORT_COLUMNS


def ignored_columns(scan: LayerScan, kind: str) -> frozenset[str]:
    """The columns that become nothing.

    The verification number of a statement is never kept. GDAL adds some to what it reads from KML.
    In an export, they are fields that cannot be set, and a second geometry, as GDAL writes it.
    """
    names = {column.casefold(): column for column in scan.columns}
    ignored = _SECRET_COLUMNS | (_FROM_KML if names.keys() >= _ALWAYS_FROM_KML else frozenset())
    if is_export(scan):
        ignored |= _ignored_in_export(scan, kind)
    return frozenset(column for name, column in names.items() if name in ignored) | {*scan.secret}


def ignored_among(columns: Sequence[str], kind: str) -> frozenset[str]:
    """``ignored_columns``, judged by names alone."""
    return ignored_columns(LayerScan(columns={name: ColumnUse() for name in columns}), kind)


def _ignored_in_export(scan: LayerScan, kind: str) -> frozenset[str]:
    fixed = [field.name for field in _FIELDS[kind] if field.writable != "always"]
    names = {short for name in fixed for short in (name, name[:NAME_BYTES])}
    names |= {
        name.casefold() for name, use in scan.columns.items() if any(map(_WKT.match, use.samples))
    }
    return frozenset(names)


def _usual_column(field: Field, columns: Sequence[str]) -> str | None:
    """The first column that is called like a field, its own name before others; a shapefile cuts
    names off."""
    own = {plain_heading(field.name), plain_heading(field.name[:NAME_BYTES])}
    usual = {short for word in usual_headings(field.name) for short in (word, word[:NAME_BYTES])}
    named = ((name, plain_heading(name)) for name in columns)
    found = [name for name, heading in named if heading in own | usual]
    return min(found, key=lambda name: plain_heading(name) not in own, default=None)


def _has_names(name: str, use: ColumnUse) -> bool:
    rank, are_numbers = name_rank(name), use.numbers == use.filled
    if rank < 0 or (not use.varies and _UNIT.fullmatch(use.samples[0])):
        return False
    if _is_called_name(rank) or name.casefold() == _PLACE:
        return not (are_numbers and all(map(_QUANTITY.fullmatch, use.samples)))
    are_answers = {sample.casefold() for sample in use.samples} <= _YES
    is_title = rank < len(_NAME_WORDS) - len(usual_headings("unit"))
    is_area = not _is_usual(name) and 2 * use.numbers > use.filled
    return use.tells_apart and not (are_answers or is_area or (are_numbers and not is_title))


def _is_usual(name: str) -> bool:
    """True if numbers under this heading can be names."""
    return name_rank(name) >= 0 and plain_heading(name) != "area"


def _is_called_code(name: str) -> bool:
    """True if whole numbers under this heading are ids, or numbers of units."""
    codes, words = usual_headings("code"), heading_words(name)
    has_code = plain_heading(name).endswith(codes) or not {*codes}.isdisjoint(words)
    return has_code or bool({*words[-1:]} & {*usual_headings("number")}) or _is_usual(name)


def _number_kinds(value: object) -> tuple[bool, bool]:
    """Return (is a whole number without a unit, is another number)."""
    if type(value) is int:  # and not bool
        return True, False
    return (value.is_integer(), not value.is_integer()) if type(value) is float else (False, False)


@lru_cache(maxsize=2**14)  # many of the values of a small file are alike
def _kinds_of_text(text: str) -> tuple[bool, bool]:
    """As ``_number_kinds``, of a text that may have a number, or one with a unit."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        is_whole = text.lstrip("+-").isdecimal()
        return is_whole, not is_whole
    return False, _QUANTITY.fullmatch(text) is not None


def name_rank(name: str) -> int:
    """The index of a column's name in the list of usual words, or -1."""
    heading = plain_heading(name)
    if _ADMINISTRATIVE.fullmatch(heading):
        return len(_NAME_WORDS) + 5 - int(heading[3])  # the most detailed level first
    word = heading.rstrip("0123456789")
    stem = word.removesuffix("name")
    tails, units = (*usual_headings("number"), *usual_headings("code")), {*usual_headings("unit")}
    known = [each for each in (word, stem) if each in _NAME_WORDS]
    known += [each for tail in tails if (each := word.removesuffix(tail)) in units]
    if known:
        return _NAME_WORDS.index(known[0])
    words = {stem, *heading_words(name)}
    is_other = words & {*usual_headings("other")} and not words & units
    return len(_NAME_WORDS) if stem != word and not is_other else -1


def _is_called_name(rank: int) -> bool:
    return 0 <= rank < len(usual_headings("name"))
