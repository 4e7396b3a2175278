"""A zipped shapefile: .shp, .shx, .dbf, .prj, .cpg, and ``columns.txt``.

Column names have at most 10 bytes, so that file explains each of them, and says what was lost:
texts have at most 254 bytes, and heights are left out.
"""

from __future__ import annotations

import shutil
import zipfile
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from app.formats.writers.columns import Table
from app.formats.writers.dbf import NAME_BYTES, DbfWriter, dbf_columns
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
    name = source.type.name
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile(dir=folder)) for _ in range(3)]
        legend = _write_features(source, *files)
        packed = stack.enter_context(new_file(folder))
        archive = stack.enter_context(
            zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL)
        )
        for ending, file in zip(("shp", "shx", "dbf"), files, strict=True):
            file.seek(0)
            with archive.open(f"{name}.{ending}", "w") as member:
                shutil.copyfileobj(file, member)
        archive.writestr(f"{name}.prj", _PRJ)
        archive.writestr(f"{name}.cpg", "UTF-8")
        archive.writestr("columns.txt", legend)
    return packed


def _write_features(source: FeatureSource, shp: IO[bytes], shx: IO[bytes], dbf: IO[bytes]) -> str:
    """Write all features to the files. Returns the text of ``columns.txt``."""
    table = Table(source)
    columns = table.columns if table.rest else table.columns[:-1]
    short = dbf_columns(columns)
    kind = POINT if source.type.geometry.kind is kinds.POINT else POLYGON
    shapes, rows = ShpWriter(shp, shx, kind), DbfWriter(dbf, short)
    late, has_heights = 0, False
    for feature in source.features():
        shape = None if feature.geometry is None else read_shape(feature.geometry)
        values = table.row(feature)
        shapes.add(shape)
        rows.add(values[: len(columns)])
        late += values[len(columns) :] not in ([], [None])
        has_heights |= shape is not None and shape.has_heights
        if max(shapes.size, rows.size) > SHAPEFILE_BYTES:
            raise CannotWrite(_TOO_LARGE)
    shapes.finish()
    rows.finish()
    lines = [f"The columns of {source.type.name}.dbf, and their names in Canopy.", ""]
    for column, short_column, cut in zip(columns, short, rows.cut, strict=True):
        note = f"  ({cut:,} values cut)" if cut else ""
        lines.append(f"{short_column.name:<{NAME_BYTES}}  {column.name}{note}")
    lines.append("")
    if any(rows.cut):
        lines.append(f"A shapefile has at most {SHAPEFILE_TEXT_BYTES} bytes of each text.")
    if has_heights:
        lines.append("Heights were left out.")
    if late:  # their metadata had other keys when the columns were chosen
        lines.append(f"{late:,} features were changed in the meantime, and lack some metadata.")
    return "\n".join([*lines, ""])
