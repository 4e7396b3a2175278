"""The shapes of a shapefile (ESRI, "Shapefile Technical Description", 1998): ``.shp``, ``.shx``.

Heights and measures are left out. Bounding boxes and the length in the header are ignored: many
programs write wrong ones.
"""

from __future__ import annotations

import io
import struct
from array import array
from itertools import pairwise
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np

from app.formats.features import FileInvalid
from app.formats.positions import Json, Points, unreadable_geometry
from app.formats.readers.layer_limits import PositionCount, quoted
from app.formats.readers.ordinates import too_many_positions
from app.formats.readers.shp_rings import polygons_of_rings
from app.geometry import GeometryInvalid
from app.policy.files import GEOMETRY_BYTES
from app.policy.request_limits import GEOMETRY_POSITIONS

Offsets: TypeAlias = "array[int]"

_HEADER_BYTES: Final = 100
_CODE: Final = struct.pack(">i", 9994)
_RECORD: Final = struct.Struct(">ii")  # its number, from 1, and words of its content
_LENGTH_AT: Final = 24  # in the header
_WORD: Final = 2  # bytes
_SHORTEST: Final = 2  # words: the type of a shape
_FIRST_NUMBERS: Final = (0, 1)  # the description says 1

_NULL, _POINT, _LINE, _POLYGON, _MULTIPOINT = 0, 1, 3, 5, 8
_MULTIPATCH: Final = 31
_NO_MULTIPATCH: Final = (
    "The shape is a MultiPatch, a surface in space. Make it an area: in ArcGIS with Multipatch "
    "Footprint, in QGIS with Export, Save Features As, and the geometry type Polygon."
)
_SUPPORTED: Final = frozenset({_POINT, _LINE, _POLYGON, _MULTIPOINT})
_DIMENSION: Final = 10  # added to the type for heights, or twice for measures
_NOTES: Final = {0: "", 1: "Heights were left out.", 2: "Measures were left out."}
_REVERSED: Final = "Polygons of which all rings are wound as holes were read as exterior rings."

_POINT_AT: Final = 4  # in the content of a record, after its type
_COUNTS_AT: Final = 36  # after the bounding box
_POINT_BYTES: Final = 16


class Shapes:
    """The records with shapes, counted from 0. ``is_index_wrong``: the ``.shx`` does not fit, so
    the records are in the order of the file. ``notes`` are about those that were read, and
    ``count`` counts their positions."""

    def __init__(self, file: BinaryIO, index: BinaryIO | None, name: str) -> None:
        """Find all records.

        Args:
            file: the ``.shp``, which must stay open.
            index: the ``.shx``, or None without one.
            name: the name of the file, for messages.

        Raises:
            FileInvalid: the file is damaged or incomplete.
        """
        self._file, self._name = file, name
        self._length = file.seek(0, io.SEEK_END)
        file.seek(0)
        header = file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES or header[:4] != _CODE:
            raise FileInvalid(f"{quoted(name)} is not a shapefile, or incomplete. Export it again.")
        indexed = self._indexed(index) if index else None
        self.is_index_wrong = bool(index) and indexed is None
        self._offsets = self._following(header) if indexed is None else indexed
        self.count = PositionCount()
        self.notes: set[str] = set()

    def __len__(self) -> int:
        return len(self._offsets)

    def read_shape(self, record: int) -> Json | None:
        """The shape of a record as a GeoJSON geometry in the coordinate system of the file; None:
        there is none.

        Raises:
            FileInvalid: all shapes together have too many positions.
            GeometryInvalid: it is damaged, of another kind, or has too many positions.
        """
        offset = self._offsets[record] * _WORD
        _, size = self._record(offset)
        if size > GEOMETRY_BYTES:
            raise too_many_positions()
        self._file.seek(offset + _RECORD.size)
        return self._geometry(self._file.read(size))

    def _record(self, offset: int) -> tuple[int, int]:
        """The number of the record at an offset, and the bytes of its content; (0, 0) without a
        record."""
        self._file.seek(offset)
        header = self._file.read(_RECORD.size)
        if len(header) < _RECORD.size:
            return 0, 0
        number, words = _RECORD.unpack(header)
        fits = offset + _RECORD.size + words * _WORD <= self._length
        return (number, words * _WORD) if words >= _SHORTEST and fits else (0, 0)

    def _indexed(self, index: BinaryIO) -> Offsets | None:
        """The offsets in an index, in words, or None if one of them has no record."""
        offsets = array("I")
        if index.read(_HEADER_BYTES)[:4] != _CODE:
            return None
        while len(entry := index.read(_RECORD.size)) == _RECORD.size:
            (offset, _) = _RECORD.unpack(entry)
            number, size = self._record(offset * _WORD) if offset > 0 else (0, 0)
            if not size or number - len(offsets) not in _FIRST_NUMBERS:
                return None
            offsets.append(offset)
        return offsets

    def _following(self, header: bytes) -> Offsets:
        """The offsets of the records in the order of the file, in words."""
        offsets = array("I")
        offset, end = _HEADER_BYTES, struct.unpack_from(">i", header, _LENGTH_AT)[0] * _WORD
        while offset + _RECORD.size <= self._length and offset != end:
            _, size = self._record(offset)
            if not size:
                raise FileInvalid(
                    f"{quoted(self._name)} is damaged or incomplete after {len(offsets):,} shapes. "
                    "Export it again."
                )
            offsets.append(offset // _WORD)
            offset += _RECORD.size + size
        return offsets

    def _geometry(self, content: bytes) -> Json | None:
        (code,) = _read_integers(content, 0, 1)
        if code == _NULL:
            return None
        dimensions, kind = divmod(code, _DIMENSION)
        if code == _MULTIPATCH:
            raise GeometryInvalid([unreadable_geometry(_NO_MULTIPATCH, "wrong_type")])
        if code < 0 or dimensions not in _NOTES or kind not in _SUPPORTED:
            message = "The shape is neither made of points, nor of lines, nor of polygons."
            raise GeometryInvalid([unreadable_geometry(message, "wrong_type")])
        geometry: Json | None
        if kind == _POINT:
            point = self._points(content, _POINT_AT, 1)[0].tolist()
            geometry = {"type": "Point", "coordinates": point}
        elif kind == _MULTIPOINT:
            (count,) = _read_integers(content, _COUNTS_AT, 1)
            points = self._points(content, _COUNTS_AT + 4, count).tolist()
            geometry = {"type": "MultiPoint", "coordinates": points} if points else None
        else:
            geometry = self._parts(kind, content)
        if geometry and dimensions:
            self.notes.add(_NOTES[dimensions])
        return geometry

    def _parts(self, kind: int, content: bytes) -> Json | None:
        parts, count = _read_integers(content, _COUNTS_AT, 2)
        starts = _read_integers(content, _COUNTS_AT + 8, parts)
        points = self._points(content, _COUNTS_AT + 8 + 4 * parts, count)
        if parts and (starts[0] or any(a > b for a, b in pairwise([*starts, count]))):
            raise _damaged_shape()
        if not (lines := [line for line in np.split(points, starts[1:]) if len(line)]):
            return None
        if kind == _LINE:
            return _single_or_multi("LineString", [line.tolist() for line in lines])
        polygons, is_reversed = polygons_of_rings(lines)
        if is_reversed:
            self.notes.add(_REVERSED)
        return _single_or_multi("Polygon", polygons)

    def _points(self, content: bytes, offset: int, count: int) -> Points:
        _check_room(content, offset, count, _POINT_BYTES)
        points = np.frombuffer(content, "<f8", 2 * count, offset).reshape(-1, 2)
        if not np.isfinite(points).all():
            message = "The shape has a number that is not finite."
            raise GeometryInvalid([unreadable_geometry(message, "not_a_number")])
        self.count.add(count)
        return points


def _read_integers(content: bytes, offset: int, count: int) -> list[int]:
    """The integers at an offset. Raises GeometryInvalid."""
    _check_room(content, offset, count, 4)
    return list(struct.unpack_from(f"<{count}i", content, offset))


def _check_room(content: bytes, offset: int, count: int, size: int) -> None:
    """Raise GeometryInvalid if numbers of a size in bytes are too many, or beyond the content."""
    if count > GEOMETRY_POSITIONS:
        raise too_many_positions()
    if not 0 <= count <= (len(content) - offset) // size:
        raise _damaged_shape()


def _damaged_shape() -> GeometryInvalid:
    return GeometryInvalid([unreadable_geometry("The shape is damaged or incomplete.")])


def _single_or_multi(kind: str, parts: list[list[Any]]) -> Json:
    if len(parts) == 1:
        return {"type": kind, "coordinates": parts[0]}
    return {"type": f"Multi{kind}", "coordinates": parts}
