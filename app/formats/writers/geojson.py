"""GeoJSON (RFC 7946): one FeatureCollection, or a Feature on each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.formats.writers.features import METADATA
from app.formats.writers.source import FeatureSource
from app.values.strict_json import dumps


def write_collection(source: FeatureSource) -> Iterator[bytes]:
    """Yield a FeatureCollection. GDAL calls its layer by ``name``. A foreign member tells metadata
    that is an empty object from none."""
    yield b'{"type":"FeatureCollection","name":%b,"features":[\n' % dumps(source.type.name)
    between = b""
    for feature in source.features():
        rest: dict[str, Any] = {METADATA: {}} if feature.is_empty else {}
        yield between + dumps(feature.as_geojson() | rest)
        between = b",\n"
    yield b"\n]}\n"


def write_lines(source: FeatureSource) -> Iterator[bytes]:
    """Yield newline-delimited GeoJSON, without the record separators of RFC 8142, which programs
    that read line by line do not expect."""
    for feature in source.features():
        yield dumps(feature.as_geojson()) + b"\n"
