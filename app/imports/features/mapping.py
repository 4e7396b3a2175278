"""Which columns of a layer are read as which fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.formats.writers.dbf import NAME_BYTES
from app.policy.fields import ASSET, PROJECT, Field

# What the column with the name is usually called, the likeliest first; in any case, and with
# "name" behind it or a number ("DISTRICTNAME", "Name_1").
NAME_WORDS: Final = (
    "name", "title", "label",
    "nombre", "nom", "nome", "naam", "navn", "namn", "nimi", "nazwa", "nazev", "bezeichnung",
    "titel", "titre", "titulo", "имя", "название", "名称", "名前",
    "project", "district", "unit", "site", "stand", "compartment", "reserve", "park", "area",
    "forest", "wood", "region",
)  # fmt: skip

_FIELDS: Final = {"projects": PROJECT, "assets": ASSET}
_WKT: Final = re.compile(r"(MULTI)?(POINT|POLYGON) ?Z? ?\(")
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
    differ at all."""

    filled: int = 0
    first: object = None
    varies: bool = False

    def add(self, value: object) -> None:
        if value is None or value == "":
            return
        if not self.filled:
            self.first = value
        elif value != self.first:
            self.varies = True
        self.filled += 1


@dataclass(slots=True)
class LayerScan:
    """How the columns of a layer are used."""

    features: int = 0
    columns: dict[str, ColumnUse] = field(default_factory=dict)

    def add(self, properties: Mapping[str, Any]) -> None:
        self.features += 1
        for name, value in properties.items():
            self.columns.setdefault(name, ColumnUse()).add(value)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """``fields``: the column that each field is read from. ``metadata``: the columns that become
    metadata; None: all others."""

    fields: Mapping[str, str]
    metadata: tuple[str, ...] | None = None

    @property
    def name(self) -> str | None:
        """The column with the names."""
        return self.fields.get("name")

    @property
    def has_external_id(self) -> bool:
        return "external_id" in self.fields

    def as_json(self) -> dict[str, Any]:
        """As the API shows it, and the database keeps it."""
        metadata = None if self.metadata is None else list(self.metadata)
        return {**self.fields, "metadata": metadata}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ColumnMapping:
        """The mapping that ``as_json`` wrote; a null field is read from no column."""
        fields = {name: each for name, each in value.items() if name != "metadata" and each}
        metadata = value.get("metadata")
        return cls(fields, None if metadata is None else tuple(metadata))


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

    It has a usual word for its name. Of several the likeliest word wins, where it is filled in at
    least half of the features and does not say the same in all of them.
    """
    likely = [name for name, use in scan.columns.items() if use.filled and _rank(name) >= 0]

    def unlikeliness(name: str) -> tuple[bool, bool, int, int]:
        use = scan.columns[name]
        rare = 2 * use.filled < scan.features
        constant = use.filled > 1 and not use.varies
        return rare, constant, _rank(name), -use.filled

    return min(likely, key=unlikeliness, default=None)


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


def _of_export(scan: LayerScan, kind: str) -> frozenset[str]:
    fixed = [field.name for field in _FIELDS[kind] if field.writable != "always"]
    found = {short for name in fixed for short in (name, name[:NAME_BYTES])}
    found |= {name.casefold() for name, use in scan.columns.items() if _WKT.match(str(use.first))}
    return frozenset(found)


def _usual_column(field: Field, columns: Sequence[str]) -> str | None:
    """The first column with a usual name of a field, which a shapefile cuts off."""
    usual = {*field.properties, field.name, field.name[:NAME_BYTES]}
    return next((name for name in columns if name.casefold() in usual), None)


def _rank(name: str) -> int:
    """The index of a column's name in the list of usual words, or -1."""
    word = "".join(letter for letter in name.casefold() if letter.isalnum()).rstrip("0123456789")
    if word in NAME_WORDS:
        return NAME_WORDS.index(word)
    if not word.endswith("name"):
        return -1
    stem = word.removesuffix("name")
    return NAME_WORDS.index(stem) if stem in NAME_WORDS else len(NAME_WORDS)
