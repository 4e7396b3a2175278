"""What a writer writes from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.formats.writers.features import Feature, FeatureType
from app.values.batching import batched_by_bytes

BLOCK: Final = 64 * 1024  # bytes


class CannotWrite(ValueError):
    """The features cannot be written in this format. The message says why, and what to do.

    ``problems`` are what is wrong with single records: pairs of an id and a message.
    """

    def __init__(self, message: str, problems: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Source:
    """Records that are read again with every call. Others may change them between two calls.

    Args:
        type: what they are, and so which properties their features have.
        records: reads them all; few are in memory at a time.
        metadata: reads the JSON text of the metadata of those that have any.
    """

    type: FeatureType
    records: Callable[[], Iterator[dict[str, Any]]]
    metadata: Callable[[], Iterator[str]]

    def features(self) -> Iterator[Feature]:
        return map(self.type.feature, self.records())


def blocks(pieces: Iterable[bytes]) -> Generator[bytes]:
    """Yield the same bytes in fewer pieces, each of at most ``BLOCK`` bytes unless one of the given
    pieces is larger."""
    for some in batched_by_bytes(pieces, len, BLOCK):
        yield b"".join(some)
