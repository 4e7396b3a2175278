"""Shapefiles in a zip file.

A shapefile is several files of one name: the shapes (``.shp``), the offset of each (``.shx``), the
table (``.dbf``), its encoding (``.cpg``), and the coordinate system (``.prj``). All but the first
may be missing.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from itertools import starmap
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from app.formats.crs import Projection, in_degrees
from app.formats.features import AS_IT_SAYS, AsRead, FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.positions import unreadable_geometry
from app.formats.readers.archive import Archive
from app.formats.readers.dbf import DbfTable
from app.formats.readers.layer_limits import PositionCount, quoted
from app.formats.readers.layer_systems import LayerSystems
from app.formats.readers.shp import Shapes
from app.geometry import GeometryInvalid, Problem
from app.policy.files import CRS_LENGTH

_SHAPES: Final = ".shp"
_NO_RECORD: Final = unreadable_geometry("The table of the shapefile has no record for this shape.")
_COLUMNS_IN_NOTE: Final = 10
_FILES_IN_NOTE: Final = 5
# The files of a shapefile that are read, are indexes, or say the same again; and of an export.
_KNOWN: Final = (
    *(".shp", ".shx", ".dbf", ".prj", ".cpg", ".sbn", ".sbx", ".qix", ".fix", ".fbn", ".fbx"),
    *(".ain", ".aih", ".ixs", ".mxs", ".atx", ".qpj", ".cst", "columns.txt"),
)
_TEXT_BYTES: Final = 4 * (CRS_LENGTH + 1)


class ShapefileReader(FormatReader):
    """A layer for each shapefile, with its name, and its folder if names repeat."""

    def __init__(self, path: Path, how: AsRead = AS_IT_SAYS) -> None:
        """Raise FileInvalid when the zip file or a shapefile in it is broken, or it has none."""
        super().__init__()
        self._archive = Archive(path)
        self._files = ExitStack()
        self._files.callback(self._archive.close)
        self._members = {member.casefold(): member for member in reversed(self._archive.members)}
        try:
            shapefiles = [name for name in self._archive.members if name.lower().endswith(_SHAPES)]
            if not shapefiles:
                raise FileInvalid("The zip file has no shapefile (.shp) in it.")
            names = dict(zip(_layer_names(shapefiles), shapefiles, strict=True))
            systems = {name: (self._text(names[name], ".prj"),) for name in names}
            self._systems = LayerSystems(self, systems)
            others = [name for name in self._archive.members if not name.lower().endswith(_KNOWN)]
            if others:
                more = " and more" if len(others) > _FILES_IN_NOTE else ""
                listed = ", ".join(map(quoted, others[:_FILES_IN_NOTE]))
                self.note(f"Other files in the zip file were not read: {listed}{more}.")
            self._opened = {name: self._open(names[name], how) for name in names}
            self.layers = tuple(starmap(self._layer, self._opened.items()))
        except FileInvalid:
            self.close()
            raise

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``."""
        shapes, table = self._opened[layer.name]
        projection = self._systems.chosen(layer.name, crs)
        columns = frozenset(layer.columns)
        shapes.count = PositionCount()
        number = 0
        for record in range(len(shapes)):
            has_record = table is None or record < table.records
            properties = table.read_record(record, columns) if table and has_record else {}
            if properties is None:
                continue
            number += 1
            geometry, problems = None, tuple[Problem, ...]()
            try:
                if not has_record:
                    raise GeometryInvalid([_NO_RECORD])
                geometry = shapes.read_shape(record)
            except GeometryInvalid as error:
                problems = tuple(error.problems)
            yield in_degrees(SourceFeature(number, geometry, properties, problems), projection)
        for note in _shapefile_notes(shapes, table, projection):
            self.note(note)

    def close(self) -> None:
        """Close the zip file, and delete the copies of its members."""
        self._files.close()

    def _layer(self, name: str, opened: tuple[Shapes, DbfTable | None]) -> Layer:
        shapes, table = opened
        layer = Layer(name, len(shapes), (), *self._systems.label(name))
        if table is None:
            return layer
        self.unknown += table.unknown
        return replace(
            layer,
            features=len(shapes) - table.deleted,
            columns=table.columns,
            encoding=table.encoding,
            is_guessed=table.is_guessed,
        )

    def _open(self, shapefile: str, how: AsRead) -> tuple[Shapes, DbfTable | None]:
        """The shapes and the table of a shapefile."""
        index, table = self._beside(shapefile, ".shx"), self._beside(shapefile, ".dbf")
        with self._archive.open(index) if index else nullcontext() as opened_index:
            shapes = Shapes(self._copy(shapefile), opened_index, shapefile)
        if table is None:
            return shapes, None
        encoding = self._text(shapefile, ".cpg")
        return shapes, DbfTable(self._copy(table), table, len(shapes), encoding, how)

    def _beside(self, shapefile: str, suffix: str) -> str | None:
        """The member of the same name with another suffix, in any case."""
        return self._members.get((shapefile[: -len(_SHAPES)] + suffix).casefold())

    def _text(self, shapefile: str, suffix: str) -> str:
        """The beginning of a small member, to the NUL with which programs in C end it; an empty
        text if it is missing."""
        if (member := self._beside(shapefile, suffix)) is None:
            return ""
        with self._archive.open(member) as file:
            text = file.read(_TEXT_BYTES).decode("utf-8-sig", "replace")
        return text.partition("\0")[0].strip()

    def _copy(self, member: str) -> BinaryIO:
        """A copy of a member with random access."""
        copy = self._files.enter_context(TemporaryFile())  # noqa: SIM115 - ``close`` closes it
        with self._archive.open(member) as source:
            shutil.copyfileobj(source, copy)
        copy.seek(0)
        return copy


def _layer_names(shapefiles: list[str]) -> Iterator[str]:
    """The names of shapefiles without their folders, unless names repeat."""
    paths = [PurePosixPath(shapefile).with_suffix("") for shapefile in shapefiles]
    counts = Counter(path.name for path in paths)
    names = [path.name if counts[path.name] == 1 else str(path) for path in paths]
    for name, shapefile in zip(names, shapefiles, strict=True):
        yield name if names.count(name) == 1 else shapefile


def _shapefile_notes(
    shapes: Shapes, table: DbfTable | None, projection: Projection
) -> Iterator[str]:
    """Yield notes about a shapefile after all of it was read."""
    if projection.note:
        yield projection.note
    yield from sorted(shapes.notes)
    if shapes.is_index_wrong:
        yield "The index (.shx) does not fit the shapes, which were read in the order of the .shp."
    if table is None:
        yield "There is no table (.dbf), so the shapes have no names or other attributes."
        return
    if table.left_out:
        columns = ", ".join(map(quoted, table.left_out[:_COLUMNS_IN_NOTE]))
        yield f"Skipped columns of unsupported types: {columns}."
    if table.deleted:
        yield f"{table.deleted:,} features that are marked as deleted were left out."
    if table.records != len(shapes):
        yield (
            f"The table has {table.records:,} records for {len(shapes):,} shapes. Check that names "
            "belong to their shapes."
        )
