"""Cutting an area out of a PMTiles file.

What the new file will be is known from the directories of the source: ``plan_cut``. So its own
directories are written first, and then the tiles in their order (``write_tiles``): a file that was
cut off is completed from its end on.
"""

from __future__ import annotations

import gzip
import os
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, count, zip_longest
from typing import IO, Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray
from pmtiles.tile import (
    Entry,
    HeaderDict,
    deserialize_directory,
    serialize_header,
    tileid_to_zxy,
)
from pmtiles.writer import build_roots_leaves

from app.basemap.area import IdRanges
from app.basemap.own import HEADER_BYTES, OWN, UnusableMap, parse_header, parse_metadata
from app.basemap.sources import Source
from app.geometry.bounding_boxes import Bounds
from app.values import clock

_HEAD_BYTES: Final = 16 * 1024  # header and root directory
_LEAF: Final = 4096  # entries of a leaf directory
_MOST: Final = 4 * 1024 * 1024  # bytes to read at a time
_GAP: Final = 32 * 1024  # bytes that are read for nothing, rather than asking once more
_DEPTH: Final = 4  # of directories
_BEYOND: Final = 1 << 62

Numbers = NDArray[np.int64]
Part = tuple[int, int]  # offset and length


class Cut(NamedTuple):
    """The file to be made."""

    head: bytes  # all before the tiles
    header: HeaderDict
    offsets: Numbers  # of each content in the source, in the order of the new file
    lengths: Numbers

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return len(self.head) + self.header["tile_data_length"]

    def to_load(self, done: int) -> int:
        """Return the bytes to read, with gaps between tiles, once ``done`` bytes are written."""
        return sum(_span(group)[1] for group in _grouped(self.parts(done)))

    def parts(self, done: int) -> Iterator[Part]:
        """Yield the parts of the source that make the rest, once ``done`` bytes are written."""
        done -= len(self.head)
        ends = np.cumsum(self.lengths)
        first = int(np.searchsorted(ends, done, side="right"))
        for number in range(first, len(ends)):
            offset, length = int(self.offsets[number]), int(self.lengths[number])
            skipped = max(0, done - int(ends[number]) + length)
            yield offset + skipped, length - skipped


def read_entries(source: Source, ranges: IdRanges) -> tuple[HeaderDict, Numbers]:
    """Read the directories of a source.

    Returns:
        Its header; and the entries of tiles whose ids are in ``ranges``, by id: an array of shape
        (n, 4) with the id, the offset in the file, the bytes, and how many tiles have them.

    Raises:
        SourceFailed: the source cannot be read.
        UnusableMap: it is no map that can be shown.
    """
    head = source.read(0, _HEAD_BYTES)
    header = parse_header(head[:HEADER_BYTES])
    root = head[header["root_offset"] : header["root_offset"] + header["root_length"]]
    columns = array("q")
    try:
        for entry in _select(source, header, root, ranges):
            columns.extend((entry.tile_id, entry.offset, entry.length, entry.run_length))
    except (OSError, EOFError, ValueError, OverflowError, zlib.error) as error:
        raise UnusableMap(f"has a directory that cannot be read ({error})") from None
    entries = np.frombuffer(columns, np.int64).reshape(-1, 4)
    return header, entries[np.argsort(entries[:, 0])]


def plan_cut(source: Source, ranges: IdRanges, bounds: Bounds, begun: dict[str, Any]) -> Cut:
    """Plan a file with the tiles of a source whose ids are in ``ranges``.

    Args:
        bounds: what its header says of the area.
        begun: ``OWN`` in the metadata of a file that may have been begun. Empty: there is none.

    Raises:
        SourceFailed, UnusableMap: as ``read_entries``; also if there are no such tiles.
    """
    header, entries = read_entries(source, ranges)
    if not len(entries):
        raise UnusableMap("has no tiles of this area")
    metadata = parse_metadata(source.read(header["metadata_offset"], header["metadata_length"]))
    own = {"source": source.name, "source_state": source.state}
    time = begun["made_at"] if own.items() <= begun.items() else clock.format_time(clock.now())
    metadata[OWN] = own | {"made_at": time}
    # Contents are in the order in which their first tile comes, as readers expect.
    _, firsts, inverse = np.unique(entries[:, 1], return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    offsets, lengths = entries[firsts[order], 1], entries[firsts[order], 2]
    entries[:, 1] = (np.cumsum(lengths) - lengths)[np.argsort(order)[inverse]]
    west, south, east, north = (round(side * 10_000_000) for side in bounds)
    min_zoom, max_zoom = (tileid_to_zxy(int(entries[at, 0]))[0] for at in (0, -1))
    header |= {
        "addressed_tiles_count": int(entries[:, 3].sum()),
        "tile_entries_count": len(entries),
        "tile_contents_count": len(offsets),
        "clustered": True,
        "tile_data_length": int(lengths.sum()),
        "min_zoom": min_zoom,
        "max_zoom": max_zoom,
        "min_lon_e7": west,
        "min_lat_e7": south,
        "max_lon_e7": east,
        "max_lat_e7": north,
        "center_zoom": min_zoom,
        "center_lon_e7": (west + east) // 2,
        "center_lat_e7": (south + north) // 2,
    }
    return Cut(_head(header, _Entries(entries), metadata), header, offsets, lengths)


def write_tiles(
    source: Source, cut: Cut, file: IO[bytes], done: int, progress: Callable[[int], None]
) -> None:
    """Write what a file lacks at its end, so that it is complete and on disk.

    Args:
        done: bytes that it has, with all of ``cut.head``.
        progress: called with the number of bytes read since the last call.

    Raises:
        OSError: it cannot be written.
        SourceFailed: the source cannot be read. The file has what came until then.
        UnusableMap: the source is incomplete.
    """
    file.seek(done)
    for group in _grouped(cut.parts(done)):
        start, length = _span(group)
        data = source.read(start, length)
        if len(data) < length:
            raise UnusableMap("is incomplete")
        file.writelines(data[offset - start : offset - start + size] for offset, size in group)
        file.flush()  # a process that is killed loses no more than one group
        progress(length)
    os.fsync(file.fileno())


def _select(
    source: Source, header: HeaderDict, data: bytes, ranges: IdRanges, depth: int = 1
) -> Iterator[Entry]:
    """Yield the entries of tiles in a directory, and in those below it, cut to ranges of ids.
    Their offsets are those in the file."""
    if depth > _DEPTH:
        raise ValueError("too deep")
    leaves = []
    entries = deserialize_directory(data)
    for entry, after in zip_longest(entries, entries[1:]):
        if entry.run_length:
            offset = header["tile_data_offset"] + entry.offset
            for first, end in _common(entry.tile_id, entry.tile_id + entry.run_length, ranges):
                yield Entry(first, offset, entry.length, end - first)
        elif any(_common(entry.tile_id, after.tile_id if after else _BEYOND, ranges)):
            leaves.append((header["leaf_directory_offset"] + entry.offset, entry.length))
    for group in _grouped(leaves):
        start, length = _span(group)
        if length > _MOST:
            raise ValueError("too long")
        data = source.read(start, length)
        for offset, size in group:
            leaf = data[offset - start : offset - start + size]
            yield from _select(source, header, leaf, ranges, depth + 1)


def _common(first: int, end: int, ranges: IdRanges) -> Iterator[tuple[int, int]]:
    """Yield what ids from ``first`` to before ``end`` have in common with ranges."""
    for number in range(bisect_right(ranges, (first, _BEYOND)) - 1, len(ranges)):
        if number >= 0 and ranges[number][1] > first:
            if ranges[number][0] >= end:
                return
            yield max(first, ranges[number][0]), min(end, ranges[number][1])


def _grouped(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield parts of a file in groups to be read at once, in the order given."""
    group: list[Part] = []
    for offset, length in parts:
        if group:
            end = group[-1][0] + group[-1][1]
            if not (end <= offset <= end + _GAP and offset + length - group[0][0] <= _MOST):
                yield group
                group = []
        group.append((offset, length))
    if group:
        yield group


def _span(group: Sequence[Part]) -> Part:
    """Return the offset and the length of all of a group."""
    start, (offset, length) = group[0][0], group[-1]
    return start, offset + length - start


class _Entries(Sequence[Entry]):
    """The entries of ``read_entries`` as objects, of which few are made at a time."""

    def __init__(self, rows: Numbers) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        found = self._rows[at].tolist()
        return [Entry(*row) for row in found] if isinstance(at, slice) else Entry(*found)


def _head(header: HeaderDict, entries: _Entries, metadata: dict[str, Any]) -> bytes:
    """Return what comes before the tiles, whose root directory must be in its first 16 kB."""
    for leaf_size in (_LEAF << more for more in count()):
        root, leaves, _ = build_roots_leaves(entries, leaf_size)  # type: ignore[no-untyped-call]
        if HEADER_BYTES + len(root) <= _HEAD_BYTES:
            break
    described = gzip.compress(orjson.dumps(metadata), mtime=0)
    parts = (root, described, leaves)
    header["root_offset"], header["metadata_offset"], header["leaf_directory_offset"], end = (
        accumulate(map(len, parts), initial=HEADER_BYTES)
    )
    header["root_length"], header["metadata_length"], header["leaf_directory_length"] = map(
        len, parts
    )
    header["tile_data_offset"] = end
    return b"".join((serialize_header(header), *parts))
