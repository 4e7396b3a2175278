"""GeoPackages (OGC 12-128r19): their tables of features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final

from app.formats.crs import in_degrees
from app.formats.features import FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.positions import Json, unreadable_geometry
from app.formats.readers.arcs import ARCS_NOTE
from app.formats.readers.layer_limits import Columns, PositionCount, quoted, value_too_long
from app.formats.readers.layer_systems import LayerSystems
from app.formats.readers.sqlite_file import SqliteFile
from app.formats.readers.wkb import read_wkb
from app.geometry import GeometryInvalid, Problem
from app.policy.files import CRS_LENGTH, LAYERS, VALUE_BYTES

_UNDEFINED_SYSTEMS: Final = {-1, 0}
_ROW_NUMBERS: Final = frozenset({"fid", "ogc_fid"})

# The header of a geometry: "GP", a version, flags, the system, and mostly a bounding box.
_MAGIC: Final = b"GP"
_FLAGS_AT: Final = 3
_HEADER_BYTES: Final = 8
_ENVELOPE, _EMPTY, _EXTENDED = 0x0E, 0x10, 0x20
_ENVELOPES: Final = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}  # bytes

_FLAT_NOTE: Final = "Heights and measures were left out."
_NO_TABLE: Final = (
    "The layer {name} is a view, or no table with geometries, and was not read. Make it a layer of "
    "its own: in QGIS, with Export, Save Features As."
)
_STYLES: Final = ("layer_styles", "qgis_projects")
_OTHER_TABLE: Final = "The table {name} holds {kind}, not features, and was not read."
_BLOB_NOTE: Final = "Columns with binary values, such as pictures, were left out."
_COMPUTED_NOTE: Final = "Columns that are computed when they are read were left out."
_IN_USE_NOTE: Final = (
    "The file was copied while a program had it open, so that the last changes may be missing. "
    "Close the program, and copy it again."
)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of features. ``columns`` are those that are read, with their declared types;
    ``notes`` are about the others. ``system`` is the number of its coordinate system."""

    name: str
    geometry: str
    columns: dict[str, str]
    system: Any
    notes: tuple[str, ...]


class GeoPackageReader(FormatReader):
    """A layer for each table that the contents list as features, without views. The row numbers
    (``fid``) are not a column."""

    def __init__(self, path: Path) -> None:
        """Raise FileInvalid when the file is not a GeoPackage, is damaged, or has no such table."""
        super().__init__()
        self._file = SqliteFile(path)
        try:
            self._tables = {table.name: table for table in self._find_tables()}
            if not self._tables:
                raise FileInvalid(
                    " ".join(["The GeoPackage has no table of features.", *self.notes])
                )
            self._systems = LayerSystems(self, self._definitions())
            self.layers = tuple(map(self._layer, self._tables.values()))
        except FileInvalid:
            self.close()
            raise
        if self._file.is_in_use:
            self.note(_IN_USE_NOTE)

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``."""
        table = self._tables[layer.name]
        projection = self._systems.chosen(table.name, crs)
        positions = PositionCount()
        columns = {name: kind for name, kind in table.columns.items() if name in layer.columns}
        rows = self._file.read_rows(table.name, (table.geometry, *columns))
        for number, (blob, *values) in enumerate(rows, start=1):
            geometry, problems = None, tuple[Problem, ...]()
            properties = self._properties(number, columns, values)
            try:
                geometry = self._geometry(blob, positions)
            except GeometryInvalid as error:
                problems = tuple(error.problems)
            yield in_degrees(SourceFeature(number, geometry, properties, problems), projection)
        for note in (projection.note, *table.notes):
            self.note(note)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _find_tables(self) -> Iterator[_Table]:
        names = self._listed_names()
        geometries = {
            str(table).lower(): (str(column), system)
            for table, column, system in self._catalog(
                "gpkg_geometry_columns", "table_name", "column_name", "srs_id"
            )
        }
        for name in names:
            stored_name = self._file.find_table(name)
            column, system = geometries.get(name.lower(), ("", None))
            if stored_name and (table := self._table(stored_name, column, system)):
                yield table
            else:
                self.note(_NO_TABLE.format(name=quoted(name)))

    def _catalog(self, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The rows of one of the tables that describe the others.

        Raises:
            FileInvalid: there is none.
        """
        if self._file.find_table(table) is None:
            reason = _IN_USE_NOTE if self._file.is_in_use else ""
            message = f"The file is not a GeoPackage: it has no table {table}. {reason}"
            raise FileInvalid(message.rstrip())
        return self._file.read_rows(table, columns)

    def _listed_names(self) -> list[str]:
        """The names of the tables that the contents list as features."""
        names: list[str] = []
        for name, kind in self._catalog("gpkg_contents", "table_name", "data_type"):
            if kind == "features" and isinstance(name, str):
                if len(names) == LAYERS:
                    raise FileInvalid(f"The GeoPackage has more than {LAYERS} layers. Split it.")
                names.append(name)
            elif name not in _STYLES:
                self.note(_OTHER_TABLE.format(name=quoted(str(name)), kind=quoted(str(kind))))
        return names

    def _table(self, name: str, geometry: str, system: Any) -> _Table | None:
        """A table with its columns, or None if it has no column ``geometry``.

        Raises:
            FileInvalid: it has too many columns.
        """
        columns, geometry_column, notes = Columns(), "", []
        types: dict[str, str] = {}
        for column in self._file.columns(name):
            if column.is_computed:
                notes.append(_COMPUTED_NOTE)
            elif column.name.lower() == geometry.lower():
                geometry_column = column.name
            elif column.type.startswith("BLOB"):
                notes.append(_BLOB_NOTE)
            elif not (column.is_key and column.name.lower() in _ROW_NUMBERS):
                columns.add(column.name)
                types[column.name] = column.type
        if not geometry_column:
            return None
        return _Table(name, geometry_column, types, system, tuple(notes))

    def _definitions(self) -> dict[str, tuple[str, ...]]:
        """The texts that may define the system of each table."""
        numbers = {table.system for table in self._tables.values()} - _UNDEFINED_SYSTEMS
        found: dict[Any, tuple[str, ...]] = {}
        columns = "srs_id", "organization", "organization_coordsys_id", "definition"
        rows = self._catalog("gpkg_spatial_ref_sys", *columns) if numbers else ()
        for number, organization, code, definition in rows:
            if number in numbers:
                texts = str(definition), f"{organization}:{code}"
                found.setdefault(number, tuple(text[: CRS_LENGTH + 1] for text in texts))
        return {name: found.get(table.system, ("",)) for name, table in self._tables.items()}

    def _layer(self, table: _Table) -> Layer:
        count = self._file.count(table.name)
        return Layer(table.name, count, tuple(table.columns), *self._systems.label(table.name))

    def _properties(self, number: int, columns: dict[str, str], values: list[Any]) -> Json:
        """The values of a row. Raises FileInvalid when one is too long."""
        properties: Json = {}
        for (name, kind), value in zip(columns.items(), values, strict=True):
            if isinstance(value, str):
                if len(value) > VALUE_BYTES:
                    raise value_too_long(name, number)
            elif isinstance(value, bytes):
                self.note(_BLOB_NOTE)
                value = None
            elif kind == "BOOLEAN" and value in (0, 1):
                value = bool(value)
            elif isinstance(value, float) and not isfinite(value):
                value = None
            properties[name] = value
        return properties

    def _geometry(self, blob: Any, positions: PositionCount) -> Json | None:
        """The geometry of a value. Raises GeometryInvalid."""
        if blob is None or (wkb := _wkb_of_blob(blob)) is None:
            return None
        read = read_wkb(wkb)
        positions.add(read.positions)
        if not read.is_flat:
            self.note(_FLAT_NOTE)
        if read.has_arcs:
            self.note(ARCS_NOTE)
        return read.geometry


def _wkb_of_blob(blob: Any) -> bytes | None:
    """The well-known binary in a value, or None if the geometry is empty.

    Raises:
        GeometryInvalid: it is not a geometry of a GeoPackage, or an extended one.
    """
    if not isinstance(blob, bytes) or blob[:2] != _MAGIC or len(blob) < _HEADER_BYTES:
        raise GeometryInvalid([unreadable_geometry("The geometry is not one of a GeoPackage.")])
    flags = blob[_FLAGS_AT]
    if flags & _EXTENDED:
        message = "The geometry is of a type that not every program knows (an extension)."
        raise GeometryInvalid([unreadable_geometry(message, "wrong_type")])
    envelope = _ENVELOPES.get((flags & _ENVELOPE) >> 1)
    if envelope is None:
        raise GeometryInvalid([unreadable_geometry("The header of the geometry is damaged.")])
    return None if flags & _EMPTY else blob[_HEADER_BYTES + envelope :]
