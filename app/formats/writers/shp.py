"""The geometries of a shapefile: .shp, and its index .shx.

https://www.esri.com/content/dam/esrisite/sitecore-archive/Files/Pdfs/library/whitepapers/pdfs/shapefile.pdf

pyshp writes shapefiles, too. But it ignores the errors of a full disk, cuts numbers that are too
long to other numbers, and keeps the name of every column that it has written in memory.
"""

from __future__ import annotations

import struct
from itertools import accumulate, chain
from typing import IO, Final

from app.formats.writers.shapes import Shape
from app.geometry import Bounds, box_around

POINT: Final = 1
POLYGON: Final = 5
_NULL: Final = 0
_HEADER_BYTES: Final = 100
_FILE_CODE: Final = 9994
_VERSION: Final = 1000


class ShpWriter:
    """Writes shapes to two files. All are of one type, or null.

    Args:
        kind: ``POINT`` or ``POLYGON``.
    """

    def __init__(self, shp: IO[bytes], shx: IO[bytes], kind: int) -> None:
        self._shp, self._shx, self._kind = shp, shx, kind
        self._number = 0
        self._box: Bounds | None = None
        for file in (shp, shx):
            file.write(bytes(_HEADER_BYTES))

    @property
    def size(self) -> int:
        """The size of the larger file so far, in bytes."""
        return self._shp.tell()

    def add(self, shape: Shape | None) -> None:
        """Write a shape; None: a null shape. Heights are left out."""
        content = struct.pack("<i", _NULL)
        if shape is not None:
            box = shape.box()
            self._box = box_around(self._box, box)
            content = _point_content(shape) if self._kind == POINT else _polygon_content(shape, box)
        self._number += 1
        words = len(content) // 2
        self._shx.write(struct.pack(">2i", self._shp.tell() // 2, words))
        self._shp.write(struct.pack(">2i", self._number, words) + content)

    def finish(self) -> None:
        """Write the headers, with the length of the files and the box around all shapes."""
        for file in (self._shp, self._shx):
            words = file.tell() // 2
            file.seek(0)
            file.write(struct.pack(">7i", _FILE_CODE, 0, 0, 0, 0, 0, words))
            box = self._box or (0.0, 0.0, 0.0, 0.0)
            file.write(struct.pack("<2i8d", _VERSION, self._kind, *box, 0.0, 0.0, 0.0, 0.0))


def _point_content(shape: Shape) -> bytes:
    return struct.pack("<i2d", POINT, *shape.position[:2])


def _polygon_content(shape: Shape, box: Bounds) -> bytes:
    """All rings of all parts. In a shapefile, exterior rings run clockwise, and holes the other
    way."""
    rings = [ring[::-1] for ring in shape.rings()]
    sizes = [len(ring) for ring in rings]
    starts = accumulate(sizes[:-1], initial=0)
    ordinates = chain.from_iterable(position[:2] for ring in rings for position in ring)
    head = struct.pack("<i4d2i", POLYGON, *box, len(rings), sum(sizes))
    indices = struct.pack(f"<{len(rings)}i", *starts)
    return head + indices + struct.pack(f"<{2 * sum(sizes)}d", *ordinates)
