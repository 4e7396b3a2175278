"""The records that are written to a file, and the bytes of it in blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.formats.writers.features import Feature, FeatureType
from app.values.batching import batched_by_bytes

BLOCK: Final = 64 * 1024  # bytes


class CannotWrite(ValueError):
    """The features cannot be written in this format. The message says why, and what to do."""


@dataclass(frozen=True)
class FeatureSource:
    """Records that are read again with every call; they may change between two calls.

    Args:
        type: determines the properties of their features.
        records: reads all of them; few are in memory at a time.
        metadata: reads the JSON text of the metadata of the records that have any.
    """

    type: FeatureType
    records: Callable[[], Iterator[dict[str, Any]]]
    metadata: Callable[[], Iterator[str]]

    def features(self) -> Iterator[Feature]:
        return map(self.type.feature, self.records())


def byte_blocks(pieces: Iterable[bytes]) -> Generator[bytes]:
    """Yield the bytes of ``pieces`` in blocks of at most ``BLOCK`` bytes; a larger piece is a block
    by itself."""
    for batch in batched_by_bytes(pieces, len, BLOCK):
        yield b"".join(batch)
