"""Which columns of a layer are read as which fields."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.formats.features import SourceFeature
from app.formats.positions import first_position, is_degrees
from app.formats.writers.dbf import NAME_BYTES
from app.imports.features.geometries import has_points, is_nearly_closed, kind_of
from app.policy.bounds import METADATA_KEYS
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.imports import GEOMETRY_COLUMNS, SAMPLE_LENGTH, SAMPLES

# What the column with the name is usually called, the likeliest first; in any case, and with
# "name" behind it or a number ("DISTRICTNAME", "Name_1").
NAME_WORDS: Final = (
    "name", "title", "label",
    "nombre", "nom", "nome", "naam", "navn", "namn", "nimi", "nazwa", "nazev", "nazov", "naziv",
    "denumire", "nume", "ime", "jmeno", "meno", "nev", "nimetus", "pavadinimas", "nosaukums",
    "isim", "nama", "denominazione", "denominacion", "denominacao", "bezeichnung",
    "titel", "titre", "titulo", "имя", "название", "назва", "ονομα", "名称", "名前",
    "productionplace",
    "project", "district", "unit", "site", "stand", "compartment", "reserve", "park", "area",
    "forest", "wood", "region",
)  # fmt: skip

_MEANS_NAME: Final = NAME_WORDS.index("project")  # the words before it mean nothing else
_UNITS: Final = (
    r"(?:sq\.? ?)?(?:km|m|mi|ft|cm|mm)(?:2|3|²|³)?|sqm|sqkm|ha|hectares?|hectareas?|hektar|acres?"
    r"|ac|%|°|t|kg"
)
_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9 .,'’_]*(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_QUANTITY: Final = re.compile(rf"(?:{_NUMBER.pattern})\s*(?:{_UNITS})", re.IGNORECASE)

_UNIT: Final = re.compile(_UNITS, re.IGNORECASE)

_Box = tuple[float, float, float, float]

_FIELDS: Final = {"projects": PROJECT, "assets": ASSET}
_WKT: Final = re.compile(r"(MULTI)?(POINT|POLYGON) ?Z? ?\(")
_OF_PLOTS: Final = re.compile(  # of a file for the EUDR, and of Whisp's results
    r"producer|productionplace$|area$|country$|risk_|ind_|.*_(before|after)_2020$", re.IGNORECASE
)
_ONLY_OF_PLOTS: Final = frozenset({
    "producername", "producercountry", "productionplace",
    "risk_pcrop", "risk_acrop", "risk_livestock", "risk_timber",
})  # fmt: skip
_PLACE: Final = "productionplace"
_NEVER: Final = frozenset({"producername"})  # it has the names of people
_PLOT_IDS: Final = ("external_id", "plotid", "plot_id")
# What GDAL's driver LIBKML makes of any KML file; ``id2`` is a second ``id``.
_ALWAYS_OF_KML: Final = frozenset({"tessellate", "extrude", "visibility"})
_OF_KML: Final = _ALWAYS_OF_KML | {
    *("timestamp", "begin", "end", "altitudemode", "altitudemo", "draworder", "icon", "snippet"),
    "id2",
}
_OF_EXPORT: Final = {"created_at", "updated_at"}  # columns that the files of an export have


@dataclass(slots=True)
class ColumnUse:
    """How a column is used over all features: in how many it has a value, and whether the values
    differ at all; how many are whole numbers, and how many others, or numbers with a unit; how
    often the value is another one than in the feature before; and the first different ones, as
    texts."""

    filled: int = 0
    first: object = None
    varies: bool = False
    whole: int = 0
    measured: int = 0
    runs: int = 0
    last: object = None
    samples: list[str] = field(default_factory=list)

    def add(self, value: object) -> None:
        if value is None or value == "":
            return
        if not self.filled:
            self.first = value
        elif value != self.first:
            self.varies = True
        self.filled += 1
        if len(self.samples) < SAMPLES and (text := shorten(value)) not in self.samples:
            self.samples.append(text)
        self.runs += value != self.last
        self.last = value
        is_number, is_whole = _number(value)
        self.whole += is_whole
        self.measured += is_number and not is_whole


def shorten(value: object, most: int = SAMPLE_LENGTH) -> str:
    """A value as a text of some characters."""
    text = str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(slots=True)
class LayerScan:
    """How the columns of a layer are used, and where its features are.

    ``unreadable`` counts features with problems. ``areas``, ``lines`` and ``points`` count
    geometries, ``collected_points`` the collections that have points, which count as areas; and
    ``nearly_closed`` the lines whose ends nearly meet. ``in_degrees`` and
    ``not_degrees`` count those whose first position can be in degrees and cannot,
    ``in_swapped_degrees`` those of the latter that can the other way round. ``far`` is the first
    position that cannot be in degrees; ``box`` is around all first positions, ``upright`` around
    those that can be in degrees, ``turned`` around those that can the other way round only, turned.
    """

    features: int = 0
    columns: dict[str, ColumnUse] = field(default_factory=dict)
    unreadable: int = 0
    areas: int = 0
    lines: int = 0
    points: int = 0
    nearly_closed: int = 0
    collected_points: int = 0
    in_degrees: int = 0
    not_degrees: int = 0
    in_swapped_degrees: int = 0
    far: tuple[float, float] | None = None
    box: _Box | None = None
    upright: _Box | None = None
    turned: _Box | None = None

    def add(self, feature: SourceFeature) -> None:
        self.features += 1
        self.unreadable += bool(feature.problems)
        for name, value in feature.properties.items():
            self.columns.setdefault(name, ColumnUse()).add(value)
        position = first_position(feature.geometry)
        if position is None:
            return
        kind = kind_of(feature.geometry or {})
        self.areas += kind == "areas"
        self.points += kind == "points"
        self.collected_points += has_points(feature.geometry or {})
        if kind == "lines":
            self.lines += 1
            self.nearly_closed += is_nearly_closed(feature.geometry or {})
        x, y = position
        self.box = _around(self.box, x, y)
        if is_degrees(position):
            self.in_degrees += 1
            self.upright = _around(self.upright, x, y)
            return
        self.not_degrees += 1
        self.far = self.far or position
        if is_degrees((y, x)):
            self.in_swapped_degrees += 1
            self.turned = _around(self.turned, y, x)


def _around(box: _Box | None, x: float, y: float) -> _Box:
    west, south, east, north = box or (x, y, x, y)
    return min(west, x), min(south, y), max(east, x), max(north, y)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """``fields``: the column that each field is read from. ``metadata``: the columns that become
    metadata; None: all others. ``geometry``: the columns with the geometries, where a person has
    named them."""

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
        """The columns of fields, which are no metadata. ``ProductionPlace`` is both."""
        return frozenset(
            column
            for name, column in self.fields.items()
            if name != "name" or column.casefold() != _PLACE
        )

    def of_plots(self) -> ColumnMapping:
        """That of the points which become assets, where others become projects."""
        known = mapped_fields("assets")
        return replace(self, fields={n: each for n, each in self.fields.items() if n in known})

    def as_json(self) -> dict[str, Any]:
        """As the API shows it, and the database keeps it."""
        metadata = None if self.metadata is None else list(self.metadata)
        return {**self.fields, **self.geometry, "metadata": metadata}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ColumnMapping:
        """The mapping that ``as_json`` wrote; a null field is read from no column."""
        columns = {name: each for name, each in value.items() if name != "metadata" and each}
        geometry: dict[str, str] = {
            name: columns.pop(name) for name in GEOMETRY_COLUMNS if name in columns
        }
        metadata = value.get("metadata")
        return cls(columns, None if metadata is None else tuple(metadata), geometry)


def mapped_fields(kind: str) -> tuple[str, ...]:
    """The fields that can be read from a column each, for "projects" or "assets"."""
    return tuple(
        field.name
        for field in _FIELDS[kind]
        if field.kind.read is not None and field.writable == "always"
    )


def guess_mapping(scan: LayerScan, kind: str, given: Mapping[str, Any]) -> ColumnMapping:
    """The mapping that is most likely meant.

    Args:
        given: what is known already, as in ``ColumnMapping.as_json``.
    """
    columns = [name for name, use in scan.columns.items() if use.filled]
    fields = {} if "name" in given else {"name": guess_name_column(scan)}
    for each in _FIELDS[kind]:
        if each.name in mapped_fields(kind) and each.name != "name":
            fields[each.name] = _usual_column(each, columns)
    return ColumnMapping.from_json(fields | dict(given))


def guess_name_column(scan: LayerScan) -> str | None:
    """The column that most likely holds the names, or None when none looks like it.

    It has a usual word for its name, and its values are not numbers; whole ones are names if the
    word means nothing else. Of several the likeliest word wins, where it is filled in at least half
    of the features and does not say the same in all of them. Plots that have no other name have
    their ids.
    """
    likely = [name for name, use in scan.columns.items() if use.filled and _has_names(name, use)]

    def unlikeliness(name: str) -> tuple[bool, bool, int, int]:
        use = scan.columns[name]
        rare = 2 * use.filled < scan.features
        constant = use.filled > 1 and not use.varies
        return rare, constant, _rank(name), -use.filled

    found = min(likely, key=unlikeliness, default=None)
    return plot_ids(scan) if found is None else found


def are_plots(columns: Iterable[str]) -> bool:
    """True if the columns are those of a file for the EUDR, or of Whisp's results."""
    return any(name.casefold() in _ONLY_OF_PLOTS for name in columns)


def plot_ids(scan: LayerScan) -> str | None:
    """The first column with ids of plots that at least half of the features have. In files that are
    neither for the EUDR nor of Whisp, it is none of ``external_id``, nor a column that several rows
    in a row have the same value of, such as those of the trees of a plot."""
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
    """The mapping with as many columns for metadata as there may be, where none were chosen, and
    the columns that are left out: those with values, first of all those of the EUDR and of Whisp,
    then in their order. Columns without values are none of either."""
    used = {*mapping.used, *ignored}
    others = [name for name in scan.columns if name not in used]
    if len(others) <= METADATA_KEYS:
        return mapping, []
    filled = [name for name in others if scan.columns[name].filled]
    in_order = sorted(filled, key=lambda name: _OF_PLOTS.match(name) is None)
    kept, left_out = tuple(in_order[:METADATA_KEYS]), in_order[METADATA_KEYS:]
    if mapping.metadata not in (None, kept):  # kept: when the file is read again
        return mapping, []
    return replace(mapping, metadata=kept), left_out


def is_export(scan: LayerScan) -> bool:
    """Return whether the file was exported from here, by its columns."""
    return {column.casefold() for column in scan.columns} >= _OF_EXPORT


def ignored_columns(scan: LayerScan, kind: str) -> frozenset[str]:
    """The columns that become nothing: those that GDAL adds to what it reads from KML, and of a
    file that was exported from here those which say what nobody can set, such as the area, or have
    the geometry once more, as GDAL keeps it."""
    names = {column.casefold(): column for column in scan.columns}
    of_kml = _OF_KML if names.keys() >= _ALWAYS_OF_KML else frozenset()
    found = of_kml | (_of_export(scan, kind) if is_export(scan) else frozenset())
    return frozenset(column for name, column in names.items() if name in found)


def ignored_among(columns: Sequence[str], kind: str) -> frozenset[str]:
    """``ignored_columns`` as far as their names alone tell."""
    return ignored_columns(LayerScan(columns={name: ColumnUse() for name in columns}), kind)


def _of_export(scan: LayerScan, kind: str) -> frozenset[str]:
    fixed = [field.name for field in _FIELDS[kind] if field.writable != "always"]
    found = {short for name in fixed for short in (name, name[:NAME_BYTES])}
    found |= {name.casefold() for name, use in scan.columns.items() if _WKT.match(str(use.first))}
    return frozenset(found)


def _usual_column(field: Field, columns: Sequence[str]) -> str | None:
    """The first column with a usual name of a field, which a shapefile cuts off."""
    usual = {*field.properties, field.name, field.name[:NAME_BYTES]}
    return next((name for name in columns if name.casefold() in usual), None)


def _has_names(name: str, use: ColumnUse) -> bool:
    rank, numbers = _rank(name), use.whole + use.measured
    if name.casefold() in _NEVER or (name.casefold() == "area" and 2 * numbers > use.filled):
        return False
    if not use.varies and _UNIT.fullmatch(str(use.first)):
        return False
    if use.whole + use.measured == use.filled:
        return 0 <= rank < _MEANS_NAME and not use.measured
    return rank >= 0


def _number(value: object) -> tuple[bool, bool]:
    """Whether a value is a number, also as a text or with a unit; and whether it is a whole one,
    without a unit."""
    if isinstance(value, bool):
        return False, False
    if isinstance(value, int | float):
        return True, isinstance(value, int) or value.is_integer()
    text = str(value).strip()
    if _NUMBER.fullmatch(text):
        return True, text.lstrip("+-").isdecimal()
    return _QUANTITY.fullmatch(text) is not None, False


def _rank(name: str) -> int:
    """The index of a column's name in the list of usual words, or -1."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    word = "".join(letter for letter in letters if letter.isalnum()).rstrip("0123456789")
    if word in NAME_WORDS:
        return NAME_WORDS.index(word)
    if not word.endswith("name"):
        return -1
    stem = word.removesuffix("name")
    return NAME_WORDS.index(stem) if stem in NAME_WORDS else len(NAME_WORDS)
