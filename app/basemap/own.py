"""The file of the instance's own map, and what it says about itself."""

from __future__ import annotations

import gzip
import re
import zlib
from datetime import UTC, datetime
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import orjson
from pmtiles.tile import (
    Compression,
    HeaderDict,
    MagicNumberNotFound,
    SpecVersionUnsupported,
    TileType,
    deserialize_header,
)

from app.settings.current import current_settings
from app.values import clock

FILE: Final = "basemap.pmtiles"  # in the instance folder
OWN: Final = "canopy"  # what this service adds to the metadata
HEADER_BYTES: Final = 127
_TAG: Final = re.compile(r"<[^<>]*>")
_E7: Final = 10_000_000  # degrees are stored as integers
_LARGEST: Final = 1 << 60  # a file, in bytes
_LONGEST: Final = 1 << 24  # metadata, in bytes


class UnusableMap(ValueError):
    """A file is not a map that this service can show. The message is a sentence without a
    subject."""


class OwnBasemap(NamedTuple):
    """The instance's own map. Bounds in degrees."""

    path: Path
    size: int  # bytes
    made_at: datetime
    source: str | None  # address or path of the file that it was cut from; None: not known
    attribution: str  # plain text
    west: float
    south: float
    east: float
    north: float
    min_zoom: int
    max_zoom: int

    @property
    def url(self) -> str:
        """Its address, which changes with the file."""
        return f"/map/{FILE}?{self.made_at:%Y%m%d%H%M%S}-{self.size}"


def own_basemap() -> OwnBasemap | None:
    """Return the map in the folder of this instance; None if there is none, or none to be shown."""
    path = current_settings().instance_path / FILE
    try:
        state = path.stat()
        return read_basemap(path, state.st_mtime_ns, state.st_size)
    except (OSError, UnusableMap):
        return None


@lru_cache(maxsize=4)
def read_basemap(path: Path, mtime_ns: int, size: int) -> OwnBasemap:
    """Read what a file says about itself.

    Args:
        mtime_ns: with ``size``, tells a file from the one that replaces it.

    Raises:
        OSError: it cannot be read.
        UnusableMap: it is not a map that can be shown.
    """
    with path.open("rb") as file:
        header, metadata = read_facts(file)
    if header["tile_data_offset"] + header["tile_data_length"] > size:
        raise UnusableMap("is incomplete")
    own = metadata[OWN]
    made_at = own.get("made_at")
    return OwnBasemap(
        path,
        size,
        clock.parse_time(made_at) if made_at else datetime.fromtimestamp(mtime_ns / 1e9, UTC),
        own.get("source"),
        " ".join(unescape(_TAG.sub("", str(metadata.get("attribution", "")))).split()),
        header["min_lon_e7"] / _E7,
        header["min_lat_e7"] / _E7,
        header["max_lon_e7"] / _E7,
        header["max_lat_e7"] / _E7,
        header["min_zoom"],
        header["max_zoom"],
    )


def parse_header(data: bytes) -> HeaderDict:
    """Parse the header of a PMTiles file.

    Raises:
        UnusableMap: it is none, or its tiles cannot be drawn.
    """
    try:
        header = deserialize_header(data)
    except SpecVersionUnsupported:
        raise UnusableMap("is of an old version of PMTiles; only version 3 is read") from None
    except (MagicNumberNotFound, ValueError, IndexError):
        raise UnusableMap("is not a PMTiles file") from None
    if header["metadata_offset"] > _LARGEST or header["metadata_length"] > _LONGEST:
        raise UnusableMap("is not a PMTiles file")
    if header["tile_type"] is not TileType.MVT:
        kind = header["tile_type"].name.lower()
        raise UnusableMap(f"has tiles of the type {kind}, but only vector tiles (mvt) are drawn")
    if header["internal_compression"] is not Compression.GZIP:
        raise UnusableMap("has directories that are not compressed with gzip")
    if header["tile_compression"] in (Compression.BROTLI, Compression.ZSTD):
        raise UnusableMap("has tiles that browsers do not decompress; only gzip is read")
    return header


def read_facts(file: BinaryIO) -> tuple[HeaderDict, dict[str, Any]]:
    """Return the header and the metadata of a file. Raises OSError, UnusableMap."""
    file.seek(0)
    header = parse_header(file.read(HEADER_BYTES))
    file.seek(header["metadata_offset"])
    return header, parse_metadata(file.read(header["metadata_length"]))


def parse_metadata(data: bytes) -> dict[str, Any]:
    """Parse the compressed metadata, in which ``OWN`` is always an object. Raises UnusableMap if
    there is no JSON object, or if it lists layers of tiles but none of roads."""
    try:
        metadata = orjson.loads(gzip.decompress(data))
    except (OSError, EOFError, zlib.error, ValueError):
        metadata = None
    if not isinstance(metadata, dict):
        raise UnusableMap("has no readable metadata")
    listed = metadata.get("vector_layers")
    layers = listed if isinstance(listed, list) else []
    if layers and not any(isinstance(each, dict) and each.get("id") == "roads" for each in layers):
        raise UnusableMap("has other layers than the maps of Protomaps")
    own = metadata.get(OWN)
    return metadata | {OWN: own if isinstance(own, dict) else {}}
