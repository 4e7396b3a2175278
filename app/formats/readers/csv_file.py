"""CSV (RFC 4180) and the variants of spreadsheets: other delimiters, encodings, decimal commas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from app.formats.crs import Projection, chosen_projection, read_crs
from app.formats.features import (
    AS_IT_SAYS,
    AsRead,
    FileInvalid,
    FormatReader,
    Layer,
    SourceFeature,
)
from app.formats.positions import Json, first_position, is_degrees, unreadable_geometry
from app.formats.readers.arcs import ARCS_NOTE
from app.formats.readers.csv_columns import ColumnType, column_names
from app.formats.readers.csv_geometry import (
    LOOKED_AT,
    GeometryColumns,
    GeometryTable,
    can_be_geometry,
    looks_like_geometry,
)
from app.formats.readers.csv_rows import CsvRows, Row, are_cut_off, without_empty_end
from app.formats.readers.layer_limits import PositionCount, quoted, value_too_long
from app.formats.readers.wkb import ReadGeometry
from app.geometry.problems import GeometryInvalid, Problem
from app.policy.files import FEATURES, SYSTEMS, VALUE_BYTES

_GEOMETRY_SAMPLE: Final = 100  # rows, to find the columns with geometries
_CRS_SAMPLE: Final = 20  # geometries, to find out if they can be in degrees
_UTM: Final = {first + zone for first in (32600, 32700) for zone in range(1, 61)}  # EPSG codes
_HEIGHTS: Final = "Heights and measures were left out."


class CsvReader(FormatReader):
    """One layer, named like the file: a feature for each row that is not empty. Problems name the
    row as a spreadsheet counts it, where the header is row 1."""

    def __init__(self, path: Path, how: AsRead = AS_IT_SAYS) -> None:
        """Raise FileInvalid when the file cannot be read, or has no header or no rows."""
        super().__init__()
        self._rows = CsvRows(path, how)
        self.unknown = list(self._rows.encoding.unknown)
        header = _checked_header(next((row for _, row in self._rows), []))
        self._names = column_names(header)
        self._types = [ColumnType(decimal_comma=self._rows.delimiter == ";") for _ in self._names]
        self._name = path.stem
        self._least_width = len(self._names)
        self._number, sample = self._scan()
        self._systems: dict[int, Projection | Problem] = {}  # by their EPSG codes
        self._chosen_letters = how.letters
        self._table = GeometryTable(self._names, sample)
        self._notes = (*self.notes,)
        self._use(*self._table.find())

    def choose_geometry(self, columns: Mapping[str, str]) -> None:
        """As ``FormatReader.choose_geometry``."""
        self._use(self._table.choose(columns))

    def _use(self, geometry: GeometryColumns, *others: GeometryColumns) -> None:
        """Read the geometries of these columns, where others could be meant."""
        self.geometry_choices = tuple(dict(columns.mapping) for columns in (geometry, *others))
        self._geometry = geometry
        self.notes = [*self._notes]
        self.note(geometry.note)
        self._letters, note = self._table.letters(geometry, self._chosen_letters)
        self.note(note)
        self._own: Projection | None = None  # named in the file
        self._columns = [
            (column, name)
            for column, name in enumerate(self._names)
            if column not in geometry.columns
        ]
        crs, accuracy = self._find_crs()
        columns = tuple(name for _, name in self._columns)
        used = tuple(self._names[column] for column in geometry.columns)
        encoding = self._rows.encoding[:2]
        self.layers = (
            Layer(self._name, self._number, columns, crs, accuracy, None, used, *encoding),
        )

    def _scan(self) -> tuple[int, list[Row]]:
        """Count the features, and find the types of the columns.

        Returns:
            The number of features, and a sample of rows with the beginnings of their fields: the
            first ones, and for each column that is empty there, the first row that has it.
        """
        features, sample, widths = 0, list[Row](), set[int]()
        empty = {*range(len(self._names))}
        for features, (_, row) in enumerate(self._features(), start=1):
            widths.add(len(row))
            if features <= FEATURES:  # no more are imported
                for kind, text in zip(self._types, row, strict=False):
                    kind.add(text)
                filled = {n for n in empty if n < len(row) and row[n].strip()}
                empty -= filled
                if features <= _GEOMETRY_SAMPLE:
                    sample.append([text[:LOOKED_AT] for text in row])
                elif filled:
                    fields = (text if n in filled else "" for n, text in enumerate(row))
                    sample.append([text[:LOOKED_AT] for text in fields])
        if not features:
            raise FileInvalid("The CSV file has no rows below its header.")
        if features > 1 and are_cut_off(widths, len(self._names)):
            (self._least_width,) = widths
            self.note(
                f"All rows have {self._least_width} fields, and the header {len(self._names)}: "
                "the last columns were read as empty."
            )
        return features, sample

    def _features(self) -> Iterator[tuple[int, Row]]:
        return islice(self._rows, 1, None)

    def _find_crs(self) -> tuple[str | None, float | None]:
        """The coordinate reference system that the file names, or that its first geometries may
        have, and the accuracy of its transformation."""
        sample = list(islice(self._readable(), _CRS_SAMPLE))
        if srid := next((read.srid for read in sample if read.srid), None):
            try:
                self._own = self._projection_of_srid(srid)
            except GeometryInvalid as error:
                self.note(str(error))
                return None, None
            return self._own.name, self._own.accuracy
        positions = [first_position(read.geometry) for read in sample]
        in_degrees = sum(
            position is None or is_degrees(position) or is_degrees(position[::-1])
            for position in positions
        )
        return ("EPSG:4326", 0) if 2 * in_degrees >= len(sample) else (None, None)

    def _readable(self) -> Iterator[ReadGeometry]:
        """Yield the geometries of rows, skipping those that are empty or have problems."""
        for _, row in self._features():
            with suppress(GeometryInvalid):
                read = self._read_geometry(row)
                if read and read.geometry:
                    yield read

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``."""
        projection = chosen_projection(self, self._own, crs)
        self._is_chosen = crs is not None or self.is_swapped  # whatever rows say
        positions = PositionCount()
        if projection is None:
            self.note(self._geometry.assumption)
        used = "E" if self._letters.are_used else ""
        for number, (row_number, row) in enumerate(self._features(), start=1):
            geometry, problems, letter = None, [], ""
            try:
                if read := self._read_geometry(row):
                    positions.add(read.positions)
                    geometry, letter = self._in_degrees(read, projection), read.letter or used
            except GeometryInvalid as invalid:
                problems = [_in_row(row_number, problem) for problem in invalid.problems]
            properties = self._properties(row_number, row)
            yield SourceFeature(number, geometry, properties, tuple(problems), letter=letter)

    def _read_geometry(self, row: Row) -> ReadGeometry | None:
        """The geometry of a row. Raises GeometryInvalid, also if the row has fewer or more fields
        than the header."""
        width = len(self._names)
        if len(row) < self._least_width or any(map(str.strip, row[width:])):
            message = (
                f"The row has {len(row)} fields, and the header {width}. Perhaps a value with "
                f"{quoted(self._rows.delimiter)} or a line break in it lacks its quotes."
            )
            raise GeometryInvalid([unreadable_geometry(message)])
        return self._geometry.read([*row, *[""] * (width - len(row))], self._letters)

    def _in_degrees(self, read: ReadGeometry, projection: Projection | None) -> Json | None:
        if not read.is_flat:
            self.note(_HEIGHTS)
        if read.has_arcs:
            self.note(ARCS_NOTE)
        if read.srid and not self._is_chosen:
            projection = self._projection_of_srid(read.srid)
        if read.geometry is None or projection is None or projection.is_wgs84:
            return read.geometry
        self.note(projection.note)
        return projection.to_wgs84(read.geometry)

    def _projection_of_srid(self, srid: int) -> Projection:
        if srid not in self._systems:
            if srid not in _UTM and len(self._systems.keys() - _UTM) == SYSTEMS:
                raise FileInvalid(
                    f"The rows are in more than {SYSTEMS} coordinate systems. Split the file."
                )
            try:
                self._systems[srid] = read_crs(f"EPSG:{srid}")
            except FileInvalid as invalid:
                self._systems[srid] = unreadable_geometry(str(invalid), "wrong_crs")
        system = self._systems[srid]
        if isinstance(system, Problem):
            raise GeometryInvalid([system])
        return system

    def _properties(self, row_number: int, row: Row) -> Json:
        properties = {}
        for column, name in self._columns:
            if column >= len(row) < self._least_width:
                break  # the row is rejected
            text = row[column] if column < len(row) else ""
            if len(text) > VALUE_BYTES:
                raise value_too_long(name, row_number, "row")
            properties[name] = self._types[column].value(text)
        return properties


def has_header(header: Row) -> bool:
    """True if a first row can be the names of columns."""
    return sum(map(bool, map(str.strip, header))) > 1 or any(map(can_be_geometry, header))


def _checked_header(header: Row) -> Row:
    """The header without empty fields at its end. Raises FileInvalid if it is none."""
    header = without_empty_end(header)
    if not has_header(header):
        raise FileInvalid(
            "The CSV file has a single column that is not named as geometries are. Separate its "
            "columns by commas, semicolons, tabs or |."
        )
    if any(map(looks_like_geometry, header)) or all(map(_is_number, header)):
        raise FileInvalid("The first row of the CSV file must have the names of its columns.")
    return header


def _is_number(text: str) -> bool:
    return text.strip().lstrip("+-").replace(",", "", 1).replace(".", "", 1).isdecimal()


def _in_row(number: int, problem: Problem) -> Problem:
    return replace(problem, message=f"Row {number:,}: {problem.message}")
