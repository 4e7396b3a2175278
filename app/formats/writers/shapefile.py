"""A zipped shapefile: .shp, .shx, .dbf, .prj, .cpg, and ``columns.txt``.

Column names have at most 10 bytes, so that file explains each of them, and says what was lost:
texts have at most 254 bytes, and heights are left out.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

from app.formats.writers.columns import Column, Table
from app.formats.writers.dbf import NAME_BYTES, DbfColumn, DbfWriter, dbf_columns
from app.formats.writers.shapes import read_shape
from app.formats.writers.shp import POINT, POLYGON, ShpWriter
from app.formats.writers.source import CannotWrite, FeatureSource
from app.formats.writers.temporary import new_file
from app.policy import kinds
from app.policy.files import SHAPEFILE_BYTES, SHAPEFILE_TEXT_BYTES

# As ESRI's programs write it; they know no other form.
_PRJ: Final = (
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
)
_TOO_LARGE: Final = (
    "The file would be larger than the 2 GB that a shapefile can have. "
    "Export fewer records, or choose another format, such as gpkg."
)
_COMPRESSION_LEVEL: Final = 3  # a higher one is slower, and the file hardly smaller


class _Loss(NamedTuple):
    """The data that the file lacks.

    Args:
        cut: the number of cut values of each column.
        late: the number of features with metadata that were changed while the file was written.
        heights: True if heights were left out.
    """

    cut: list[int]
    late: int
    heights: bool


def write_shapefile(source: FeatureSource, folder: Path) -> IO[bytes]:
    """Write the zip.

    Args:
        folder: where it is written.

    Returns:
        The file, at its beginning.

    Raises:
        CannotWrite: one of its files would be too large.
        OSError: there is no room for it.
    """
    table, name = Table(source), source.type.name
    columns = table.columns if table.rest else table.columns[:-1]
    short = dbf_columns(columns)
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile(dir=folder)) for _ in range(3)]
        loss = _write_shapes(source, table, short, *files)
        with new_file(folder) as packed, _open_zip(packed) as archive:
            for ending, file in zip(("shp", "shx", "dbf"), files, strict=True):
                file.seek(0)
                with archive.open(f"{name}.{ending}", "w") as member:
                    shutil.copyfileobj(file, member)
            archive.writestr(f"{name}.prj", _PRJ)
            archive.writestr(f"{name}.cpg", "UTF-8")
            archive.writestr(
                "columns.txt", "\n".join(_legend_lines(name, columns, short, loss)) + "\n"
            )
    return packed


def _open_zip(file: IO[bytes]) -> zipfile.ZipFile:
    return zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL)


def _write_shapes(
    source: FeatureSource,
    table: Table,
    columns: list[DbfColumn],
    shp: IO[bytes],
    shx: IO[bytes],
    dbf: IO[bytes],
) -> _Loss:
    kind = POINT if source.type.geometry.kind is kinds.POINT else POLYGON
    shapes, rows = ShpWriter(shp, shx, kind), DbfWriter(dbf, columns)
    late, heights = 0, False
    for feature in source.features():
        shape = None if feature.geometry is None else read_shape(feature.geometry)
        values = table.row(feature)
        shapes.add(shape)
        rows.add(values[: len(columns)])
        late += values[len(columns) :] not in ([], [None])
        heights |= shape is not None and shape.has_heights
        if max(shapes.size, rows.size) > SHAPEFILE_BYTES:
            raise CannotWrite(_TOO_LARGE)
    shapes.finish()
    rows.finish()
    return _Loss(rows.cut, late, heights)


def _legend_lines(
    name: str, columns: list[Column], short: list[DbfColumn], loss: _Loss
) -> Iterator[str]:
    """The lines of ``columns.txt``."""
    yield f"The columns of {name}.dbf, and their names in Canopy."
    yield ""
    for column, short_column, cut in zip(columns, short, loss.cut, strict=True):
        note = f"  ({cut:,} values cut)" if cut else ""
        yield f"{short_column.name:<{NAME_BYTES}}  {column.name}{note}"
    yield ""
    if any(loss.cut):
        yield f"A shapefile has at most {SHAPEFILE_TEXT_BYTES} bytes of each text."
    if loss.heights:
        yield "Heights were left out."
    if loss.late:
        yield f"{loss.late:,} features were changed in the meantime, and lack some metadata."
