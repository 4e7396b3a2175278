"""Comparing the entries of a batch in a file with its checkpoint."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

_MOST_EXTRA: Final = (
    2_000  # entries that are kept to compare, besides the sealed ones; a batch has 500
)


class FileEntry(NamedTuple):
    """An entry in a file."""

    hash: str
    id: str | None  # None: its line is not an entry
    line: int


class Difference(NamedTuple):
    """A difference between a batch and its checkpoint.

    Attributes:
        kind: changed, removed, inserted or moved.
        place: in the batch, from 0; None for an entry that does not belong to it.
        entry: None if it was removed.
    """

    kind: str
    place: int | None
    entry: FileEntry | None


def entry_differences(
    expected: Sequence[str], entries: Sequence[FileEntry]
) -> Iterator[Difference]:
    """Yield the differences between the entries of a file and those that were sealed.

    An unknown entry in the place of a missing one counts as changed.

    Args:
        expected: the hashes of the sealed entries.
    """
    hashes = [entry.hash for entry in entries]
    if hashes == list(expected):
        return
    surplus, lacking = Counter(hashes), Counter(expected)
    surplus, lacking = surplus - lacking, lacking - surplus
    common, foreign = _split_hashes(hashes, surplus)
    places_of = {text: place for place, text in enumerate(expected)}
    sealed, missing = _split_hashes(expected, lacking)
    for place, position in zip(sealed, common, strict=True):
        if expected[place] != hashes[position]:
            yield Difference("moved", places_of[hashes[position]], entries[position])
    for rank in sorted(foreign.keys() | missing.keys()):
        unknown = [entries[position] for position in foreign.get(rank, ())]
        for place, entry in zip_longest(missing.get(rank, []), unknown):
            kind = "changed" if entry and place is not None else "inserted" if entry else "removed"
            yield Difference(kind, place, entry)


def _split_hashes(
    hashes: Sequence[str], excluded: Counter[str]
) -> tuple[list[int], dict[int, list[int]]]:
    """Return (places of the hashes not in ``excluded``, places of the others by their rank).

    The rank is the number of hashes before them that are not in ``excluded``.
    """
    common, rest = list[int](), defaultdict[int, list[int]](list)
    for place, text in enumerate(hashes):
        if excluded[text]:
            excluded[text] -= 1
            rest[len(common)].append(place)
        else:
            common.append(place)
    return common, rest


class Batch:
    """Collects the entries of a checkpoint, up to a limit."""

    def __init__(self, expected: Sequence[str]) -> None:
        self.expected = expected
        self.sealed = frozenset(expected)
        self.entries = list[FileEntry]()

    def add(self, entry: FileEntry) -> bool:
        """Add an entry. Returns False if there are far too many."""
        if len(self.entries) >= _MOST_EXTRA + len(self.expected):
            return False
        self.entries.append(entry)
        return True
