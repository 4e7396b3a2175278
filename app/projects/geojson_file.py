"""Features of a GeoJSON file (RFC 7946) as a stream, of a file of any size.

A file holds one FeatureCollection, or Features one after the other: newline-delimited, or as a
GeoJSON text sequence (RFC 8142). Coordinates come as the floats that the file's digits mean, as
from any JSON reader. A file is read twice: ``scan_file`` goes through all of it before anything is
done with its features, and rejects an incomplete one; ``read_features`` then reads them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import ijson

from app.geometry import GeometryInvalid, read_point

Advance = Callable[[int], None]  # called with the number of bytes that were read since

_CHUNK: Final = 8192
_DEEPEST: Final = 500
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_RECORD_SEPARATOR: Final = b"\x1e"
_PREFIXES: Final = {"FeatureCollection": "features.item", "Feature": ""}
_WANTED: Final = "a GeoJSON FeatureCollection, or Features one after the other"


class FileInvalid(ValueError):
    """The file as a whole cannot be used. The message is one or two sentences."""


@dataclass(slots=True)
class PropertyUse:
    """How a property is used over all features: in how many it has a value, and whether the values
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
class FileScan:
    """The result of the first reading: the type of the file's values, the features' properties."""

    type: str = ""
    features: int = 0  # those that have properties
    properties: dict[str, PropertyUse] = field(default_factory=dict)

    def add(self, properties: object) -> None:
        if isinstance(properties, dict):
            self.features += 1
            for name, value in properties.items():
                self.properties.setdefault(name, PropertyUse()).add(value)


def no_advance(_: int) -> None:
    """The default: progress is not shown."""


def scan_file(file: BinaryIO, advance: Advance = no_advance) -> FileScan:
    """Read a whole file, from its current position.

    Raises:
        FileInvalid: it is not JSON to its end, holds something else than features, or names another
            coordinate system than WGS84.
    """
    types: set[str] = set()
    scans = {kind: FileScan(kind) for kind in _PREFIXES}
    receivers = {
        "type": lambda found: types.add(_checked_type(found)),
        "crs": _check_system,
        "features.item.properties": scans["FeatureCollection"].add,
        "properties": scans["Feature"].add,
    }
    _read_values(_Source(file, advance), receivers)
    if not types:
        raise FileInvalid(f"The file is not GeoJSON: it has no `type`. It must be {_WANTED}.")
    if len(types) > 1:
        raise FileInvalid(f"The file mixes Features and FeatureCollections. It must be {_WANTED}.")
    return scans[types.pop()]


def read_features(
    file: BinaryIO, scan: FileScan, advance: Advance = no_advance
) -> Iterator[tuple[int, Any]]:
    """Each feature of a scanned file with its number, from 1; one is in memory at a time.

    Raises:
        FileInvalid: the file has changed since it was scanned, and is broken now.
    """
    source = _Source(file, advance)
    items = ijson.items(
        source, _PREFIXES[scan.type], use_float=True, multiple_values=True, buf_size=_CHUNK
    )
    try:
        yield from enumerate(items, start=1)
    except ijson.JSONError as error:
        raise source.fault(error) from None


class _Source:
    """The bytes of a file, counted, without those that a JSON reader does not expect."""

    def __init__(self, file: BinaryIO, advance: Advance) -> None:
        self._file = file
        self._advance = advance
        self._read = 0

    def read(self, size: int) -> bytes:
        chunk = self._file.read(size)
        if not self._read:
            chunk = chunk.removeprefix(_BYTE_ORDER_MARK)
        self._read += len(chunk)
        self._advance(len(chunk))
        # The reader's memory grows with the square of the depth.
        if chunk.count(b"[") + chunk.count(b"{") > _DEEPEST + chunk.count(b"]") + chunk.count(b"}"):
            raise FileInvalid(f"The file is nested too deeply near byte {self._read:,}.")
        return chunk.replace(_RECORD_SEPARATOR, b" ")

    def fault(self, error: ijson.JSONError) -> FileInvalid:
        """What is wrong with the JSON, and about where."""
        if not self._read:
            return FileInvalid("The file is empty.")
        reported = error.args[0] if error.args else ""
        if isinstance(reported, bytes):
            reported = reported.decode(errors="replace")
        text = str(reported)
        if "premature EOF" in text:
            return FileInvalid("The file is incomplete: it ends in the middle.")
        reason = (text.splitlines() or ["it cannot be read"])[0].partition(": ")[2] or text
        return FileInvalid(f"The file is not JSON near byte {self._read:,}: {reason.rstrip('.')}.")


def _read_values(source: _Source, receivers: Mapping[str, Callable[[Any], None]]) -> None:
    """Give each value at one of the paths in a file, such as "features.item", to its receiver."""
    readers = []
    for path, receive in receivers.items():
        values = ijson.sendable_list()
        reader = ijson.items_coro(values, path, use_float=True, multiple_values=True)
        readers.append((reader, values, receive))
    try:
        while chunk := source.read(_CHUNK):
            for reader, values, receive in readers:
                reader.send(chunk)
                for value in values:
                    receive(value)
                values.clear()
        for reader, _, _ in readers:
            reader.close()
    except ijson.JSONError as error:
        raise source.fault(error) from None


def _checked_type(found: object) -> str:
    if not isinstance(found, str) or found not in _PREFIXES:
        raise FileInvalid(f"The file contains a {str(found)[:40]}. It must be {_WANTED}.")
    return found


def _check_system(crs: object) -> None:
    """The old `crs` member: what a geometry may name in it, a file may."""
    try:
        read_point({"type": "Point", "coordinates": [0, 0], "crs": crs})
    except GeometryInvalid:
        raise FileInvalid(
            "The `crs` of the file names a coordinate system other than WGS84. Convert it first, "
            "for example with: ogr2ogr -t_srs EPSG:4326 -lco RFC7946=YES converted.geojson FILE"
        ) from None
